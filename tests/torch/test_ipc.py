# SPDX-License-Identifier: Apache-2.0
"""Memory of the device between processes, as torch.multiprocessing shares it."""

import pathlib

import pytest

SHARED = pathlib.Path(__file__).parent / "shared_tensor.py"


@pytest.mark.parametrize("clock", ["real", "virtual"])
def test_a_tensor_crosses_processes(record, clock):
    run = record(SHARED, sim=f"clock={clock}")
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert run.done.stdout.decode().split() == [str(499500), "0", str(2 * 499500), "0"]
    assert b"does not have this function" not in run.done.stderr
    # One trace for each process that used the device.
    assert len(run.traces) == 2
