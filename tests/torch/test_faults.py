# SPDX-License-Identifier: Apache-2.0
"""A device that breaks under a trainer: the trainer sees it, and the trace holds what came before."""

import pathlib
import re

FAILING = pathlib.Path(__file__).parent / "failing.py"


def readbacks(run):
    return run.report()["totals"]["readbacks"]


def test_memory_that_cannot_be_corrected(record):
    run = record(FAILING, env={"SYNCTALLY_SIM_FAULTS": "cudaStreamSynchronize:6=ecc"})
    assert run.done.returncode == 4, run.done.stderr.decode()
    first, second = run.done.stdout.decode().splitlines()
    assert first.startswith("failed after 4 CUDA error: uncorrectable ECC error encountered"), first
    assert second == "still failed"
    # A call that failed is said, and counts as no wait.
    assert readbacks(run) == 5
    assert re.search("[0-9]+ calls? returned an error and (is|are) not counted", " ".join(run.text().split()))


def test_a_wait_that_never_ends(record):
    run = record(FAILING, env={"SYNCTALLY_SIM_FAULTS": "cudaStreamSynchronize:6=hang"})
    assert run.done.returncode == 3, run.done.stderr.decode()
    assert run.done.stdout == b"hung after 4\n"
    assert readbacks(run) == 5


def test_slow_copies(record):
    plain = record(FAILING)
    slow = record(FAILING, env={"SYNCTALLY_SIM_FAULTS": "cudaMemcpyAsync:*=slow:5000000"})
    for run in (plain, slow):
        assert run.done.stdout == b"done 19\n", run.done.stderr.decode()
    # PyTorch's steps end before the last one.
    assert readbacks(plain) == readbacks(slow) == 19
    # On the virtual clock a step is as long as it is made; less what the device did meanwhile.
    step_ns = [run.report("--skip", "5")["per_step"]["step_ns"]["median"] for run in (plain, slow)]
    assert 4900000 <= step_ns[1] - step_ns[0] <= 5000000
