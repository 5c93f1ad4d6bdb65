# SPDX-License-Identifier: Apache-2.0
"""The report names the line behind whose made-up value a trainer went another way than in the step before."""

import subprocess

import pytest
from conftest import LIMIT_S, SYNCTALLY

# `decide` reads a sum, which is a mark here, another one in each step, and launches more for some.
TRAINER = """
import torch
w = torch.ones(8, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
count = torch.zeros(1, dtype=torch.int32, device="cuda")
def decide(step):
    return (count + 1).item()
def report():
    return (w * 2).sum().item()
ways = []
for step in range(12):
    optimizer.zero_grad()
    loss = (w * 3).sum()
    loss.backward()
    value = decide(step)
    way = {way}
    ways.append(int(way))
    if way:
        loss = loss + 1
    report()
    optimizer.step()
print(*ways)
"""


@pytest.fixture
def lines_of(record, tmp_path):
    def run(way, sim):
        program = tmp_path / "trainer.py"
        program.write_text(TRAINER.replace("{way}", way))
        recorded = record(program, sim=f"clock=virtual,{sim}")
        assert recorded.done.returncode == 0, recorded.done.stderr.decode()
        ways = list(map(int, recorded.done.stdout.split()))
        report = recorded.report("--skip", "2")
        made_up = {site["line"] for site in report["sites"] if site.get("made_up")}
        steering = {site["line"]: site["other_ways"] for site in report["sites"] if "other_ways" in site}
        command = [SYNCTALLY, "report", "--skip", "2", recorded.directory / "traces"]
        text = subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_S).stdout.decode()
        return ways, made_up, steering, " ".join(text.split())

    return run


def test_a_value_that_decides_is_named(lines_of):
    ways, made_up, steering, notes = lines_of("value % 5 > 2", "readback=tagged")
    changes = sum(a != b for a, b in zip(ways[2:], ways[3:], strict=False))
    assert changes > 0
    assert made_up == {7, 9}
    assert steering == {7: changes}
    assert "trainer.py:7 other calls came than in the step before" in notes


def test_a_value_that_decides_nothing_is_not(lines_of):
    _, made_up, steering, notes = lines_of("0", "readback=tagged")
    assert made_up == {7, 9}
    assert steering == {}
    assert "other calls came" not in notes


def test_the_same_way_in_each_step_is_no_change(lines_of):
    ways, _, steering, _ = lines_of("value % 5 > 2", "readback=zero")
    assert set(ways) == {0} and steering == {}
