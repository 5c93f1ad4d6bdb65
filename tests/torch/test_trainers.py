# SPDX-License-Identifier: Apache-2.0
"""The example trainers on the simulated device: what the report says, and that nothing else changes."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import LIMIT_S, ROOT, SYNCTALLY

METRICS = ROOT / "examples" / "torch" / "train_metrics.py"
GUARDED = ROOT / "examples" / "torch" / "guarded.py"


def line_of(path, text):
    """The number of the one line that contains the text."""
    (number,) = [n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return number


def metrics_run(record):
    run = record(METRICS, options=("--skip", "10"))
    assert run.done.returncode == 0, run.done.stderr.decode()
    return run


def test_the_demo_names_its_three_lines(record):
    run = metrics_run(record)
    report = run.report("--skip", "10")
    assert report["steps"] == {"count": 50, "skipped": 10, "source": "torch-optimizer"} | report["steps"]
    assert report["discarded_events"] == 0
    sites = {site["line"]: site for site in report["sites"] if site["per_step"] > 0}
    expected = {
        line_of(METRICS, ".item() for name, value in"): ("readback", "pinned", "d2h", 24),
        line_of(METRICS, "torch.tensor(z_loss_weight"): ("upload", "pageable", "h2d", 1),
        line_of(METRICS, "masked_select("): ("readback", "pinned", "d2h", 1),
    }
    seen = {
        line: (site["class"], site["memory"], site["direction"], site["per_step"]) for line, site in sites.items()
    }
    assert seen == expected
    assert all(pathlib.Path(site["file"]).name == METRICS.name for site in sites.values())
    per_step = {name: report["per_step"][name]["median"] for name in ("syncs", "readbacks", "pageable_uploads")}
    assert per_step == {"syncs": 26, "readbacks": 25, "pageable_uploads": 1}


def test_the_demo_s_account_equals_the_ledger(record):
    status, text = metrics_run(record).sim_diff()
    assert status == 0, text


def test_data_dependent_trainer_runs_and_repeats(record):
    runs = [record(GUARDED), record(GUARDED)]
    for run in runs:
        assert run.done.returncode == 0, run.done.stderr.decode()
        assert b"step 199" in run.done.stdout

    def calls(run):
        rows = [line.split("\t") for line in run.ledger.read_text().splitlines()[2:]]
        return [(api, call_class, stream, size, source, destination, status)
                for _, _, api, call_class, stream, _, _, _, _, _, size, source, destination, status in rows]

    first, second = map(calls, runs)
    assert len(first) > 200 * 4
    assert first == second


RAISES = "import torch; x = torch.ones(3, device='cuda'); print(x.sum().item()); raise ValueError('as planned')"
EXITS = "import sys, torch; print(torch.ones(3, device='cuda').tolist()); print('bye', file=sys.stderr); sys.exit(7)"
KILLED = "import os, torch; torch.ones(3, device='cuda').sum().item(); print('now', flush=True); os.kill(os.getpid(), 9)"
ABORTS = "import os, torch; torch.ones(3, device='cuda').sum().item(); os.abort()"
LEAVES = "import os, torch; torch.ones(3, device='cuda').sum().item(); os._exit(9)"
FORKS = """
import torch
from torch.utils.data import DataLoader
print(sum(b.to('cuda', non_blocking=True).shape[0] for b in DataLoader(torch.ones(32, 4), 4, num_workers=2, pin_memory=True)))
"""


@pytest.mark.parametrize(
    "code, status",
    [(RAISES, 1), (EXITS, 7), (KILLED, 128 + 9), (ABORTS, 128 + 6), (LEAVES, 9)],
    ids=["raises", "exits", "killed", "aborts", "leaves"],
)
def test_no_call_is_lost_however_the_trainer_ends(code, status, record):
    run = record("-c", code)
    assert run.done.returncode == status
    difference, text = run.sim_diff()
    assert difference == 0, text
    assert int(text.split(" entries equal, 0 differ")[0].split()[-1]) >= 2


@pytest.mark.parametrize(
    "arguments",
    [[METRICS, "--steps", "12"], [GUARDED, "--steps", "60"], ["-c", RAISES], ["-c", EXITS], ["-c", KILLED], ["-c", FORKS]],
    ids=["metrics", "guarded", "raises", "exits", "killed", "forks"],
)
def test_the_program_cannot_tell(arguments, simulated_environment, tmp_path):
    outcomes = []
    for environment in simulated_environment:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            env=environment,
            cwd=tmp_path,
            timeout=LIMIT_S,
            check=False,
        )
        outcomes.append((done.returncode, done.stdout, done.stderr))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1]
    assert len(list(tmp_path.glob("synctally.*.trace"))) == 1
