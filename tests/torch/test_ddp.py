# SPDX-License-Identifier: Apache-2.0
"""torchrun on the simulated device: two processes, each with a device, a trace and a ledger of its own."""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import LIMIT_S, SYNCTALLY

HERE = pathlib.Path(__file__).parent
RANKS = 2


class Ranks:
    """A recorded run of torchrun."""

    def __init__(self, directory, script, sim="clock=virtual", python=sys.executable):
        self.directory = directory
        environment = dict(
            os.environ,
            SYNCTALLY_SIM_LEDGER=str(directory / "ledger.%p"),
            PYTHONHASHSEED="0",
            OMP_NUM_THREADS="1",
            PYTHONWARNINGS="ignore",
        )
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        self.done = subprocess.run(
            [SYNCTALLY, "run", "-o", directory / "traces", f"--sim={sim}", "--", python, *torchrun, script],
            capture_output=True,
            env=environment,
            timeout=LIMIT_S,
            check=False,
        )
        assert self.done.returncode == 0, self.done.stderr.decode()

    @property
    def traces(self):
        return sorted((self.directory / "traces").glob("*.trace"))

    def report(self, *paths):
        command = [SYNCTALLY, "report", "--format", "json", *(paths or [self.directory / "traces"])]
        done = subprocess.run(command, capture_output=True, check=False, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def sim_diff(self, trace):
        ledger = self.directory / f"ledger.{trace.stem.split('.')[-1]}"
        done = subprocess.run(
            [SYNCTALLY, "sim-diff", ledger, trace], capture_output=True, check=False, timeout=LIMIT_S
        )
        return done.returncode, (done.stdout + done.stderr).decode()

    def refusals(self):
        return [line for line in self.done.stderr.decode().splitlines() if line.startswith("synctally sim:")]


@pytest.fixture(scope="module")
def collectives(tmp_path_factory):
    return Ranks(tmp_path_factory.mktemp("collectives"), HERE / "ddp_collectives.py")


@pytest.fixture(scope="module", params=["clock=real", "clock=virtual", "clock=virtual,devices=2"])
def trained(request, tmp_path_factory):
    return Ranks(tmp_path_factory.mktemp("trained"), HERE / "ddp_train.py", request.param)


def test_what_the_ranks_get_is_what_they_gave(collectives):
    assert collectives.refusals() == []
    said = sorted(line for line in collectives.done.stdout.decode().splitlines() if line.startswith("rank"))
    assert [line.split(",")[0] for line in said] == [f"rank {rank} of {RANKS}" for rank in range(RANKS)]


def test_nccl_s_version_is_the_one_pytorch_was_built_against(collectives):
    (pin,) = [line for line in importlib.metadata.requires("torch") if line.startswith("nvidia-nccl-cu")]
    said = {line.split("NCCL ")[1] for line in collectives.done.stdout.decode().splitlines() if line.startswith("rank")}
    assert said == {re.search(r"==([\d.]+)", pin).group(1)}


def test_sixty_steps_of_two_ranks(trained):
    assert trained.refusals() == []
    assert trained.done.stdout.decode().count("step 59 loss") == RANKS
    report = trained.report()
    assert sorted(process["rank"] for process in report["processes"]) == list(range(RANKS))
    assert all(process["ended"] for process in report["processes"])
    assert report["steps"]["count"] == 60
    assert report["per_step"]["syncs"]["median"] == 0
    assert report["discarded_events"] == 0


def test_each_rank_waits_as_often_as_the_other(trained):
    counts = []
    for trace in trained.traces:
        report = trained.report(trace)
        counts.append({name: report["totals"][name] for name in ("syncs", "readbacks", "launches")})
        assert report["per_step"]["launches"]["median"] == 21
    assert len(counts) == RANKS
    assert counts[0] == counts[1]


def test_each_account_equals_its_ledger(tmp_path):
    # On the real clock: the virtual one is the process's, and a watchdog's question may move it between two looks at it.
    run = Ranks(tmp_path, HERE / "ddp_collectives.py", "clock=real,devices=2")
    assert len(run.traces) == RANKS
    for trace in run.traces:
        status, text = run.sim_diff(trace)
        assert status == 0, text
