# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the simulated cuDNN, cuFFT, cuSOLVER and cuSPARSE: nothing is refused, and waits are as the tables say."""

import collections
import importlib.metadata
import pathlib

import pytest
import vendor_ops

HERE = pathlib.Path(__file__).parent
TORCH_VERSION = tuple(map(int, importlib.metadata.version("torch").split(".")[:2]))
# As in vendor_nets.py, which cannot be imported where no CUDA library is.
STEPS = 5


def refusals(run):
    return [line for line in run.done.stderr.decode().splitlines() if line.startswith("synctally sim:")]


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    from conftest import Recording

    # Without steps: nothing here is one.
    command = ["-W", "ignore", HERE / "vendor_ops.py"]
    run = Recording(tmp_path_factory.mktemp("operations"), command, options=("--step", "off"))
    assert run.done.returncode == 0, run.done.stderr.decode()
    return run


def test_every_operation_waits_as_often_as_the_table_says(operations):
    counts = collections.Counter()
    for site in operations.report()["sites"]:
        if site["class"] in ("readback", "upload", "explicit", "implicit"):
            counts[site["file"]] += site["count"]
    seen = {name: counts[f"<operation {n}>"] for n, (name, _, _) in enumerate(vendor_ops.OPERATIONS)}
    assert seen == vendor_ops.expected(TORCH_VERSION)


def test_no_operation_is_refused(operations):
    assert refusals(operations) == []
    assert operations.report()["totals"]["launches"] > 2 * len(vendor_ops.OPERATIONS)


def test_the_account_equals_the_ledger(operations):
    status, text = operations.sim_diff()
    assert status == 0, text


@pytest.mark.parametrize("kind, launches", [("residual", 75), ("lstm", 31 if TORCH_VERSION <= (2, 6) else 30)])
def test_a_net_of_cudnn_trains(record, kind, launches):
    run = record(HERE / "vendor_nets.py", kind)
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert refusals(run) == []
    assert len(run.done.stdout.split()) == STEPS
    report = run.report()
    assert report["steps"]["count"] == STEPS
    # The loss, read once, and nothing else.
    assert report["per_step"]["syncs"]["median"] == 1
    assert report["per_step"]["drains"]["median"] == 1
    assert report["per_step"]["launches"]["median"] == launches


def test_the_version_is_the_one_pytorch_was_built_against(record):
    code = (
        "import torch; v = torch._C._cudnn; "
        "print(torch.backends.cudnn.version(), v.getCompileVersion(), v.getRuntimeVersion())"
    )
    run = record("-c", code)
    assert run.done.returncode == 0, run.done.stderr.decode()
    number, *parts = run.done.stdout.decode().replace("(", "").replace(")", "").replace(",", "").split()
    compiled, found = list(map(int, parts[:3])), list(map(int, parts[3:]))
    assert compiled == found
    assert int(number) == compiled[0] * 10000 + compiled[1] * 100 + compiled[2]
