# SPDX-License-Identifier: Apache-2.0
"""The CI example as a runner would run it: what it says of a change, and that it says it in every run."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from conftest import LIMIT_S, ROOT, SYNCTALLY

TRAINER = "examples/torch/train_metrics.py"
BUDGET = "examples/ci/budget.yml"
RESULTS = "sync-results"


class Checkout:
    """A repository with the trainer and the CI example, somewhere else than ours."""

    def __init__(self, root):
        self.root = root
        for path in (TRAINER, BUDGET, "examples/ci/check-syncs.sh", "examples/ci/workflow.yml"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)
        workflow = (root / "examples/ci/workflow.yml").read_text()
        (self.command,) = re.findall(r"- run: (examples/ci/\S+.*)", workflow)

    def insert(self, line, before):
        """Puts a line, indented alike, before the one that contains a text; returns its number."""
        lines = (self.root / TRAINER).read_text().splitlines()
        (at,) = [i for i, text in enumerate(lines) if before in text]
        indent = re.match(" *", lines[at]).group()
        lines.insert(at, indent + line)
        (self.root / TRAINER).write_text("\n".join(lines) + "\n")
        return at + 1

    def run(self, command=None):
        """The command of the workflow on a new runner."""
        shutil.rmtree(self.root / RESULTS, ignore_errors=True)
        return self.call(["bash", "-c", command or self.command])

    def call(self, command):
        environment = dict(
            os.environ,
            SYNCTALLY=str(SYNCTALLY),
            PYTHON=sys.executable,
            GITHUB_ACTIONS="true",
            GITHUB_WORKSPACE=str(self.root),
        )
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )

    def check(self, *options):
        return self.call([SYNCTALLY, "check", RESULTS, "--budget", BUDGET, *options])

    def junit(self):
        return xml.parse(self.root / RESULTS / "junit.xml").getroot().find("testsuite")


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "co")


def broken_in_text(done):
    return {tuple(match) for match in re.findall(r"^([^:\n]+):(\d+): over budget: ", done.stdout, re.MULTILINE)}


def test_the_trainer_keeps_to_its_budget(checkout):
    done = checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout and "::" not in done.stdout
    suite = checkout.junit()
    assert int(suite.get("failures")) == int(suite.get("errors")) == 0 < int(suite.get("tests"))
    assert len(suite.findall("testcase")) == int(suite.get("tests"))


@pytest.mark.parametrize(
    "line, before",
    [
        ("loss.item()", "metrics = compute_metrics("),
        ("loss.item()", "values = {name: value.item()"),
        ("largest = targets.max().item()", "weight = torch.tensor("),
        ("torch.cuda.synchronize()", "if step % 10 == 0"),
    ],
)
def test_one_more_wait_fails_at_its_line(checkout, line, before):
    number = checkout.insert(line, before)
    done = checkout.run()
    assert done.returncode == 1, done.stdout + done.stderr
    assert broken_in_text(done) == {(TRAINER, str(number))}
    assert "sync-ok: REASON" in done.stdout

    annotations = re.findall(r"^::(\w+) file=([^,]+),line=(\d+),title=[^:]*::(.*)$", done.stdout, re.MULTILINE)
    assert annotations
    assert {annotation[:3] for annotation in annotations} == {("error", TRAINER, str(number))}

    suite = checkout.junit()
    failed = [case for case in suite.findall("testcase") if case.find("failure") is not None]
    assert len(failed) == int(suite.get("failures")) == len(annotations)
    assert {(case.get("file"), case.get("line")) for case in failed} == {(TRAINER, str(number))}
    assert all(f"{TRAINER}:{number}" in case.find("failure").text for case in failed)


def test_a_reason_at_the_line_accepts_it_and_taking_it_out_does_too(checkout):
    original = (checkout.root / TRAINER).read_text()
    checkout.insert("loss.item()  # sync-ok: the scheduler wants the number", "metrics = compute_metrics(")
    done = checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 line accepted" in done.stdout
    (checkout.root / TRAINER).write_text(original)
    assert checkout.run().returncode == 0


def test_lines_above_change_nothing(checkout):
    for _ in range(7):
        checkout.insert("# more to read", "weight = torch.tensor(")
    done = checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout


def test_write_then_check(checkout):
    number = checkout.insert("loss.item()", "metrics = compute_metrics(")
    assert checkout.run().returncode == 1
    before = (checkout.root / BUDGET).read_text()
    for options, status in ((("--write",), 2), (("--write", "--force"), 1)):
        assert checkout.check(*options).returncode == status
        assert (checkout.root / BUDGET).read_text() == before
    done = checkout.check("--write", "--force", "--raise")
    assert done.returncode == 0, done.stderr
    assert f"train_metrics.py:{number}" in (checkout.root / BUDGET).read_text()
    assert checkout.check("--strict").returncode == 0
    assert checkout.run().returncode == 0


def comparable(document):
    """A report without what names the process and the place."""
    for process in document["processes"]:
        del process["pid"], process["trace"]
    return document


def test_the_same_run_twice_gives_the_same_json(checkout):
    reports = []
    for _ in range(2):
        assert checkout.run().returncode == 0
        done = checkout.call([SYNCTALLY, "report", "--format", "json", RESULTS])
        reports.append(json.loads(done.stdout))
        shutil.copytree(checkout.root / RESULTS, checkout.root / f"kept{len(reports)}")
    assert comparable(reports[0]) == comparable(reports[1])
    diffs = [
        checkout.call([SYNCTALLY, "diff", "kept1", kept, "--format", "json"]).stdout for kept in ("kept1", "kept2")
    ]
    assert diffs[0] == diffs[1]
    assert json.loads(diffs[0])["verdict"] == "same"


def test_stacking_the_readbacks_is_no_gain(checkout):
    assert checkout.run().returncode == 0
    shutil.move(checkout.root / RESULTS, checkout.root / "before")
    trainer = checkout.root / TRAINER
    text, n = re.subn(
        r"values = \{name: value.item\(\).*",
        "stacked = torch.stack(list(metrics.values()))\n        values = dict(zip(metrics, stacked.tolist()))",
        trainer.read_text(),
    )
    assert n == 1
    trainer.write_text(text)
    checkout.run()
    done = checkout.call([SYNCTALLY, "diff", "before", RESULTS, "--format", "json", "--fail-on-regression"])
    assert done.returncode == 0
    diff = json.loads(done.stdout)
    assert diff["verdict"] == "no gain"
    assert diff["totals"]["syncs"] == {"a": 26, "b": 3}
    assert "as long as before" in diff["sentence"]
