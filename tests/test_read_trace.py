# SPDX-License-Identifier: Apache-2.0
"""The C reader and the one written from docs/FORMAT.md must say the same of every trace."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parent / "build")).resolve()
SYNCTALLY = BUILD / "bin" / "synctally"
KEPT = sorted((HERE / "data").glob("v*/*.trace"))


def c_reader(path):
    done = subprocess.run([SYNCTALLY, "dump", path], capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode()


def python_reader(path):
    done = subprocess.run(
        [sys.executable, HERE / "read_trace.py", path], capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout.decode()


def test_there_are_kept_traces():
    assert KEPT


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_trace(path):
    expected = path.with_suffix(".dump").read_text(encoding="utf-8")
    assert python_reader(path) == (0, expected)
    assert c_reader(path) == (0, expected)


def test_cut_trace(tmp_path):
    whole = KEPT[-1].read_bytes()
    cut = tmp_path / "cut.trace"
    for n in (0, 100, 191, 192, 4095, 4160, 4200, 5000, 65536, 65600, 65664, 65700, 131072 + 200, len(whole) - 1):
        cut.write_bytes(whole[:n])
        assert c_reader(cut) == python_reader(cut), n


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_recorded_trace(tmp_path, clock):
    program = BUILD / "tests" / "e2e" / "random_calls"
    trace = tmp_path / "run.trace"
    environment = dict(
        os.environ, SYNCTALLY_OUT=str(trace), SYNCTALLY_SIM=f"clock={clock}", LD_PRELOAD=str(BUILD / "lib" / "libsynctally.so")
    )
    subprocess.run([program, "7", "5000", "3"], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
    status, text = c_reader(trace)
    assert status == 0
    assert text.count("\n") > 1000
    assert python_reader(trace) == (status, text)
