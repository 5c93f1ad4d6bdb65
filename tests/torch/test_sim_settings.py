# SPDX-License-Identifier: Apache-2.0
"""What PyTorch reads back from a device that does not compute: zeros, marks, or what was given for the line."""

import pytest

PROGRAM = """
import torch
x = torch.ones(100, device="cuda")
def select():
    return torch.masked_select(x, x > 0)
print(select().shape[0])
print((x * 2).sum().item(), (x + 1).max().item())
print(len(torch.nonzero(x)))
"""


@pytest.fixture
def run(record, tmp_path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def start(sim, values=None):
        if values:
            monkeypatch.setenv("SYNCTALLY_SIM_VALUES", values)
        else:
            monkeypatch.delenv("SYNCTALLY_SIM_VALUES", raising=False)
        done = record(program, sim=f"clock=virtual,{sim}").done
        assert done.returncode == 0, done.stderr.decode()
        return [float(word) for word in done.stdout.split()]

    return start


def test_zero(run):
    assert run("readback=zero") == [0, 0, 0, 0]


def test_a_mark_is_seen_and_harmless(run):
    selected, total, largest, nonzero = run("readback=tagged")
    assert 1 <= selected <= 4092 and 1 <= nonzero <= 4092
    # A small integer read as a float: finite, close to 0 and not 0.
    assert 0 < total < 1e-40 and 0 < largest < 1e-40 and total != largest


def test_a_value_for_a_line(run):
    assert run("readback=zero", values="program.py:5=64,other.py:9=3") == [64, 0, 0, 0]
    assert run("readback=zero", values="gram.py:5=64") == [0, 0, 0, 0]  # only whole names match


def test_profiles_run(run):
    for profile in ("h100", "a100", "l4", "null"):
        assert run(profile) == [0, 0, 0, 0]
