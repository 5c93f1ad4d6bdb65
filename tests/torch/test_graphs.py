# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of PyTorch on the simulated device: a GPT trained for 60 steps, with the syncs it has on a GPU."""

import pathlib

import pytest

TRAINER = pathlib.Path(__file__).parent / "graph_trainers.py"
STEPS, READS = 60, 6


def line_of(text):
    """The number of the one line of the trainer that contains the text."""
    (number,) = [n for n, line in enumerate(TRAINER.read_text().splitlines(), 1) if text in line]
    return number


def train(record, kind):
    run = record("-W", "ignore", TRAINER, kind, options=("--step", "call"))
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert b"does not have this function" not in run.done.stderr
    assert len(run.done.stdout.split()) == READS
    return run


def ledger(run):
    """What of the ledger does not depend on the thread number and on addresses; the times stay."""
    return [line.split("\t")[:1] + line.split("\t")[2:5] + line.split("\t")[6:] for line in run.ledger.read_text().splitlines()[2:]]


@pytest.mark.parametrize("kind", ["whole", "callables"])
def test_a_step_has_no_sync_but_the_readback_of_the_loss(record, kind):
    run = train(record, kind)
    # The first step is what comes before the loop: warm-up and capture.
    report = run.report("--skip", "1")
    assert report["steps"] == {"count": STEPS, "skipped": 1, "source": "call"} | report["steps"]
    per_step = report["per_step"]
    assert (per_step["syncs"]["median"], per_step["syncs"]["max"]) == (0, 1)
    assert per_step["syncs"]["mean"] == per_step["readbacks"]["mean"] == per_step["drains"]["mean"]
    assert round(per_step["syncs"]["mean"] * STEPS) == READS
    for name in ("pageable_uploads", "explicit", "implicit"):
        assert per_step[name]["max"] == 0, name
    # A replay is one submission; PyTorch before 2.9 launches two kernels before it, for the random numbers.
    low, high = {"whole": (0, 2), "callables": (10, 1000)}[kind]
    assert low <= per_step["launches"]["median"] <= high
    waits = {
        site["line"]: round(site["per_step"] * STEPS)
        for site in report["sites"]
        if site["class"] in ("readback", "explicit", "implicit", "upload") and site["per_step"] > 0
    }
    assert waits == {line_of("loss.item()"): READS}
    status, text = run.sim_diff()
    assert status == 0, text


@pytest.mark.parametrize("kind", ["whole", "callables"])
def test_two_runs_have_the_same_ledger(record, kind):
    first, second = ledger(train(record, kind)), ledger(train(record, kind))
    assert len(first) > STEPS
    assert first == second


# The first readback makes the pinned memory that the second one needs.
SYNC_IN_CAPTURE = """
import torch
x = torch.ones(4, device="cuda")
x.sum().item()
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.sum().item()
except Exception as error:
    print(type(error).__name__, "capture" in str(error) or "capturing" in str(error))
torch.cuda.synchronize()
print((x + 1).shape[0])
"""


def test_a_sync_in_a_capture_is_the_error_it_is_on_a_gpu(record):
    run = record("-W", "ignore", "-c", SYNC_IN_CAPTURE)
    assert run.done.returncode == 0, run.done.stderr.decode()
    error, is_named, size = run.done.stdout.decode().split()
    # PyTorch 2.8 gave the error a class of its own.
    assert error in ("AcceleratorError", "RuntimeError")
    assert (is_named, size) == ("True", "4")
    statuses = {line.split("\t")[13] for line in run.ledger.read_text().splitlines()[2:]}
    assert "900" in statuses
    status, text = run.sim_diff()
    assert status == 0, text
