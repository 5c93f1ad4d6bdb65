# SPDX-License-Identifier: Apache-2.0
"""numba-cuda, cuda-bindings, cuda.core, ctypes: what of them waits, line by line, and that the account is the ledger's."""

import collections
import pathlib
import re

import pytest
from recording import ROOT, SYNCS

HERE = pathlib.Path(__file__).parent
PYTHON = ROOT / "build" / "venv-clients" / "bin" / "python"
# A kernel outlasts the calls that follow its launch.
SIM = "clock=virtual,kernel_ns=100000"
# Handle 0 then is the calling thread's own stream, and every function is asked for in its other form.
PER_THREAD = {"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}


@pytest.fixture
def run(record):
    def run_with(*command, **settings):
        recording = record(*command, python=PYTHON, sim=SIM, options=("--step", "off"), **settings)
        errors = recording.done.stderr.decode()
        assert recording.done.returncode == 0, errors
        assert "synctally sim:" not in errors  # nothing was refused
        return recording

    return run_with


def expected(program):
    """Line to what waits there, from the marks in the program."""
    marks = {}
    for number, line in enumerate(program.read_text().splitlines(), 1):
        _, is_marked, mark = line.partition("  #: ")
        if is_marked:
            marks[program.name, number] = collections.Counter(mark.split(", "))
    assert marks
    return marks


def seen(report):
    marks = collections.defaultdict(collections.Counter)
    for site in report["sites"]:
        if site["class"] not in SYNCS:
            continue
        copy = [site["direction"], site["memory"]] if site["class"] in ("readback", "upload") else []
        for outcome in ("drain", "empty", "done_already"):
            if site[outcome]:
                mark = " ".join([site["class"], *copy, outcome])
                marks[pathlib.Path(site["file"]).name, site["line"]][mark] += site[outcome]
    return marks


@pytest.mark.parametrize("name", ["numba_calls.py", "bindings_calls.py", "core_calls.py", "ctypes_calls.py"])
def test_what_waits_is_what_the_program_says(run, name):
    recording = run(HERE / name)
    assert recording.done.stdout == b"done\n"
    report = recording.report()
    assert seen(report) == expected(HERE / name)
    assert report["discarded_events"] == 0
    status, text = recording.sim_diff()
    assert status == 0, text


def test_launches_of_numba_are_counted(run):
    program = (HERE / "numba_calls.py").read_text()
    written = len(re.findall(r"\b(add|scale|checked|total)\[8, 128", program))
    # The first is in a loop of three; to set an element is a kernel of numba's own.
    assert run(HERE / "numba_calls.py").report()["totals"]["launches"] == written + 2 + 1


@pytest.mark.parametrize("name", ["bindings_calls.py", "core_calls.py", "numba_calls.py"])
def test_per_thread_default_streams(run, name):
    recording = run(HERE / name, env=PER_THREAD)
    status, text = recording.sim_diff()
    assert status == 0, text
    assert "_pt" in recording.ledger.read_text()


@pytest.mark.parametrize("env", [{}, PER_THREAD], ids=["legacy", "per-thread"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls(run, seed, env):
    program = [HERE / "bindings_random.py", seed, 4000]
    recording = run(*program, env=env)
    status, text = recording.sim_diff()
    assert status == 0, text
    entries = len(recording.ledger.read_text().splitlines()) - 2
    assert entries > 1500
    assert f"{entries} entries equal, 0 differ" in text
    # The program cannot tell.
    assert run(*program, env=env, preload=False).done.stdout == recording.done.stdout


def test_a_runtime_linked_into_the_program_is_refused_in_words(record):
    code = "from cuda.bindings import runtime; print(int(runtime.cudaMalloc(4)[0]))"
    done = record("-c", code, python=PYTHON).done
    assert done.stdout == b"500\n"
    assert done.stderr.decode().count("seems to have a CUDA runtime linked in") == 1
