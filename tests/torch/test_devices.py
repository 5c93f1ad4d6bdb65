# SPDX-License-Identifier: Apache-2.0
"""Several simulated devices in one process, and the choice among them."""

import pathlib

import pytest

HERE = pathlib.Path(__file__).parent


def test_a_model_on_two_devices(record):
    run = record(HERE / "two_devices.py", sim="clock=virtual,devices=2")
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert b"does not have this function" not in run.done.stderr
    assert run.done.stdout.split() == [b"60", b"2", b"True"]
    report = run.report("--skip", "10")
    assert report["steps"]["count"] == 50
    per_step = report["per_step"]
    # A copy from device to device waits for nothing.
    for name in ("syncs", "readbacks"):
        assert (per_step[name]["min"], per_step[name]["max"]) == (1, 1), name
    status, text = run.sim_diff()
    assert status == 0, text


@pytest.mark.parametrize(
    "visible, count", [(None, 4), ("", 0), ("0", 1), ("2,0", 2), ("1,7,2", 1), ("1,1", 0), ("GPU-73796e63,0", 0)]
)
def test_visible_devices(record, tmp_path, visible, count):
    program = tmp_path / "ask.py"
    # The count as NVML tells it before CUDA starts, and as CUDA does.
    program.write_text(
        "import ctypes, torch\n"
        "cuda, n = ctypes.CDLL('libcuda.so.1'), ctypes.c_int()\n"
        "status = cuda.cuInit(0)\n"
        "assert (status == 100) if cuda.cuDeviceGetCount(ctypes.byref(n)) else (status == 0)\n"
        "print(n.value, torch.cuda.device_count())\n"
    )
    env = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    run = record(program, sim="clock=virtual,devices=4", env=env)
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert run.done.stdout.split() == [str(count).encode()] * 2
