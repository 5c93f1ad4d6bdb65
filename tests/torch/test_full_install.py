# SPDX-License-Identifier: Apache-2.0
"""The same with NVIDIA's own libraries and Triton installed beside PyTorch: `pip install torch`, nothing left out.

That is 5 GB, so only where SYNCTALLY_TEST_FULL_PYTHON names the Python of such an environment.
"""

import os
import pathlib

import pytest
import test_ddp as of_ddp
import test_graphs as of_graphs
import test_memory as of_memory
from conftest import ROOT

PYTHON = os.environ.get("SYNCTALLY_TEST_FULL_PYTHON")
HERE = pathlib.Path(__file__).parent
COMPILED = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).cuda()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(8, 16).cuda()
for _ in range(60):
    loss = compiled(x).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    loss.item()
"""

pytestmark = pytest.mark.skipif(not PYTHON, reason="SYNCTALLY_TEST_FULL_PYTHON is not set")


@pytest.mark.parametrize(
    "command, syncs",
    [
        ([ROOT / "examples" / "torch" / "train_metrics.py"], 26),
        ([HERE / "trainers.py", "convolution"], 1),
        ([HERE / "trainers.py", "recurrent"], 1),
        ([HERE / "trainers.py", "mixed-precision"], 2),
        (["-c", COMPILED], 1),
    ],
    ids=["metrics", "convolution", "recurrent", "mixed-precision", "compiled"],
)
def test_syncs_per_step(record, command, syncs):
    run = record(*command, python=PYTHON)
    assert run.done.returncode == 0, run.done.stderr.decode()
    per_step = run.report("--skip", "10")["per_step"]["syncs"]
    assert (per_step["min"], per_step["max"]) == (syncs, syncs)
    if command[0] != "-c":  # the compiler starts programs of its own, each with a trace
        status, text = run.sim_diff()
        assert status == 0, text


def test_expandable_segments(record):
    run = record(of_memory.GROWING, python=PYTHON, env={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    assert of_memory.counts(run)["syncs"] == (1, 1)


@pytest.mark.parametrize("kind", ["whole", "callables"])
def test_graphs(record, kind):
    of_graphs.test_a_step_has_no_sync_but_the_readback_of_the_loss(
        lambda *command, **settings: record(*command, python=PYTHON, **settings), kind
    )


def test_two_processes(tmp_path):
    run = of_ddp.Ranks(tmp_path, HERE / "ddp_train.py", python=PYTHON)
    of_ddp.test_sixty_steps_of_two_ranks(run)
    of_ddp.test_each_rank_waits_as_often_as_the_other(run)
