# SPDX-License-Identifier: Apache-2.0
"""PyTorch's allocators on the memory of the simulated device."""

import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).parent
GROWING = HERE / "growing.py"


def counts(run):
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert b"does not have this function" not in run.done.stderr
    status, text = run.sim_diff()
    assert status == 0, text
    report = run.report("--skip", "10")
    assert report["steps"]["count"] == 50
    per_step = report["per_step"]
    return {name: (per_step[name]["min"], per_step[name]["max"]) for name in ("syncs", "readbacks", "launches")}


@pytest.mark.parametrize(
    "setting, backend", [("expandable_segments:True", b"native"), ("backend:cudaMallocAsync", b"cudaMallocAsync")]
)
def test_allocators_change_no_count(record, setting, backend):
    plain = record(GROWING)
    other = record(GROWING, env={"PYTORCH_CUDA_ALLOC_CONF": setting})
    assert other.done.stdout.split()[2] == backend, other.done.stdout + other.done.stderr
    assert counts(plain) == counts(other)
    assert counts(plain)["syncs"] == counts(plain)["readbacks"] == (1, 1)


def test_expandable_segments_grow_in_place(record):
    plain = record(GROWING)
    expandable = record(GROWING, env={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    reserved = [int(run.done.stdout.split()[1]) for run in (plain, expandable)]
    assert reserved[1] < reserved[0]


# A segment that grows in place has to give nothing back first.
@pytest.mark.parametrize("setting, retries", [("", 1), ("expandable_segments:True", 0)])
def test_out_of_memory(record, setting, retries):
    run = record(
        HERE / "out_of_memory.py",
        sim="clock=virtual,memory=1073741824",
        env={"PYTORCH_CUDA_ALLOC_CONF": setting},
    )
    assert run.done.returncode == 0, run.done.stderr.decode()
    lines = run.done.stdout.decode().splitlines()
    assert lines[0] == f"retries {retries}"
    assert re.match("refused CUDA out of memory. Tried to allocate 700.00 MiB", lines[1]), lines
    assert re.match("free [0-9]+ of 1024", lines[2])
    assert lines[3] == "after 0"


def test_management_library_names_the_device(record, tmp_path):
    program = tmp_path / "ask.py"
    program.write_text(
        "import ctypes, torch\n"
        "nvml = ctypes.CDLL('libnvidia-ml.so.1')\n"
        "text, n, device = ctypes.create_string_buffer(96), ctypes.c_uint(), ctypes.c_void_p()\n"
        "assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 1\n"  # not initialized
        "assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 0\n"
        "assert nvml.nvmlDeviceGetHandleByIndex_v2(n.value, ctypes.byref(device)) == 2\n"
        "assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0\n"
        "assert nvml.nvmlDeviceGetName(device, text, 4) == 7\n"
        "assert nvml.nvmlDeviceGetName(device, text, 96) == 0\n"
        "print(n.value, text.value.decode())\n"
        "assert nvml.nvmlDeviceGetUUID(device, text, 96) == 0\n"
        "assert text.value.decode() == 'GPU-' + str(torch.cuda.get_device_properties(0).uuid)\n"
        "memory = (ctypes.c_ulonglong * 3)()\n"
        "kept = torch.empty(64 << 20, dtype=torch.uint8, device='cuda')\n"
        "assert nvml.nvmlDeviceGetMemoryInfo(device, memory) == 0\n"
        "assert memory[2] == 64 << 20 and memory[0] == memory[1] + memory[2]\n"
        "assert nvml.nvmlDeviceGetPowerUsage(device, memory) == 3\n"
        "assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1\n"
    )
    run = record(program)
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert run.done.stdout.decode() == "1 synctally simulated device\n"


def test_pools_tell_what_they_hold(record, tmp_path):
    program = tmp_path / "pools.py"
    program.write_text(
        "import torch\n"
        "kept = torch.empty(64 << 20, dtype=torch.uint8, device='cuda')\n"
        "freed = torch.empty(32 << 20, dtype=torch.uint8, device='cuda')\n"
        "del freed\n"
        "torch.cuda.synchronize()\n"
        "before = torch.cuda.memory_reserved()\n"
        "torch.cuda.empty_cache()\n"
        "print(torch.cuda.memory_allocated() >> 20, before >> 20, torch.cuda.memory_reserved() >> 20)\n"
    )
    run = record(program, env={"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert run.done.stdout.split() == [b"64", b"96", b"64"]
