# SPDX-License-Identifier: Apache-2.0
"""How often each idiom of PyTorch waits: the table in idioms.py, row by row."""

import collections
import importlib.metadata
import json
import pathlib

import idioms
import pytest

HERE = pathlib.Path(__file__).parent
TORCH_VERSION = tuple(map(int, importlib.metadata.version("torch").split(".")[:2]))


def counts_by_file(report):
    counts = collections.Counter()
    for site in report["sites"]:
        if site["class"] in ("readback", "upload", "explicit", "implicit"):
            counts[site["file"]] += site["count"]
    return counts


@pytest.fixture(scope="module", params=["idioms", "sync-warning"])
def table(request, tmp_path_factory):
    from conftest import Recording

    # Without steps: some idioms step an optimizer, and a report then is about what is between steps.
    command = [HERE / "idioms.py", request.param]
    run = Recording(tmp_path_factory.mktemp(request.param), command, options=("--step", "off"))
    assert run.done.returncode == 0, run.done.stderr.decode()
    rows = {"idioms": idioms.IDIOMS, "sync-warning": idioms.SYNC_WARNING}[request.param]
    return rows, run, counts_by_file(run.report())


def test_every_row_waits_as_often_as_the_table_says(table):
    rows, _, counts = table
    seen = {name: counts[f"<idiom {number}>"] for number, (name, _, _) in enumerate(rows)}
    assert seen == idioms.expected(rows, TORCH_VERSION)


def test_the_account_equals_the_ledger(table):
    _, run, _ = table
    status, text = run.sim_diff()
    assert status == 0, text


def test_pytorch_s_own_debug_mode_counts_the_same(record):
    run = record(HERE / "idioms.py", "warned")
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert json.loads(run.done.stdout) == idioms.expected(idioms.SYNC_WARNING, TORCH_VERSION)
