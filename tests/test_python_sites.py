# SPDX-License-Identifier: Apache-2.0
"""Python lines in the trace against what Python itself says, for every interpreter at hand.

Tries this interpreter, every python3.N that answers on PATH, and those named in SYNCTALLY_TEST_PYTHONS (paths,
separated by colons). A version without a known layout must give native sites only, and say so once.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import read_trace  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
KNOWN = {9, 10, 11, 12, 13}

PROGRAM = r'''
import ctypes, sys, threading, traceback

runtime = ctypes.CDLL("libcudart.so.13")
expected = open(sys.argv[1], "w", encoding="utf-8")


def note():
    frames = traceback.extract_stack()[:-1]
    print(" < ".join("%s:%d %s" % (f.filename, f.lineno, f.name) for f in reversed(frames)), file=expected)


def plain():
    note(); runtime.cudaDeviceSynchronize()


def many_lines(
    argument,
):
    value = [
        (note(), runtime.cudaDeviceSynchronize())
        for _ in range(2)
    ]
    return value


def far():
    x = 1






































































































































































    if x: note(); runtime.cudaDeviceSynchronize()


class Métier:
    def été(self):
        plain()
        for step in (1, 2):
            note(); runtime.cudaDeviceSynchronize()


def generator():
    yield plain()
    note(); yield runtime.cudaDeviceSynchronize()


def deep(n):
    if n:
        return deep(n - 1)
    note(); runtime.cudaDeviceSynchronize()


def in_handler():
    try:
        raise ValueError
    except ValueError:
        note(); runtime.cudaDeviceSynchronize()
    finally:
        note(); runtime.cudaDeviceSynchronize()


plain(); many_lines(1); far(); Métier().été(); list(generator()); deep(20); in_handler()
sorted([2, 1], key=lambda v: plain() or v)
with open(__file__): plain()
for i in range(300):
    exec(compile("\n" * (i % 7) + "note(); runtime.cudaDeviceSynchronize()", "<made %d>" % i, "exec"))
    exec(compile("\n" * (i % 5) + "note(); runtime.cudaDeviceSynchronize()", "<same name>", "exec"))
thread = threading.Thread(target=plain)
thread.start(); thread.join()
expected.close()
'''


def interpreters():
    wanted = [sys.executable, *filter(None, os.environ.get("SYNCTALLY_TEST_PYTHONS", "").split(":"))]
    wanted += filter(None, (shutil.which(f"python3.{minor}") for minor in range(7, 16)))
    found = {}
    for path in wanted:
        ask = [path, "-c", "import sys; print(sys.version_info[1], hasattr(sys, '_is_gil_enabled') and not sys._is_gil_enabled())"]
        answer = subprocess.run(ask, capture_output=True, check=False, text=True)
        if answer.returncode == 0:
            minor, is_free_threaded = answer.stdout.split()
            found.setdefault((int(minor), is_free_threaded == "True"), path)
    return sorted((minor, free, path) for (minor, free), path in found.items())


def stacks_of(trace_path):
    """The Python stack of every call, in order of entry, over all threads."""
    trace = read_trace.Trace(trace_path.read_bytes())
    out = subprocess.run(
        [sys.executable, read_trace.__file__, trace_path], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    assert trace.threads
    rows = [dict(zip(read_trace.COLUMNS, line.split("\t"))) for line in out if line[:1].isdigit()]
    rows = [row for row in rows if row["api"] == "cudaDeviceSynchronize"]
    return [row["stack"] for row in sorted(rows, key=lambda row: int(row["enter_ns"]))]


@pytest.mark.parametrize("minor, is_free_threaded, path", interpreters(), ids=lambda value: str(value))
def test_stacks_are_python_s_own(minor, is_free_threaded, path, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    expected = tmp_path / "expected"
    environment = dict(
        os.environ,
        LD_PRELOAD=f"{BUILD}/lib/libsynctally.so",
        LD_LIBRARY_PATH=f"{BUILD}/lib/sim",
        SYNCTALLY_OUT=str(tmp_path / "run.trace"),
        SYNCTALLY_SIM="kernel_ns=0",
        PYTHONUTF8="1",
    )
    done = subprocess.run([path, program, expected], capture_output=True, env=environment, check=False, text=True)
    assert done.returncode == 0, done.stderr
    seen, wanted = stacks_of(tmp_path / "run.trace"), expected.read_text(encoding="utf-8").splitlines()
    assert len(seen) == len(wanted) > 600
    if minor in KNOWN and not is_free_threaded:
        assert done.stderr == ""
        assert [(w, s) for w, s in zip(wanted, seen) if w != s][:3] == []
    else:
        assert done.stderr.count("no Python lines") == 1
        assert set(seen) <= {"", "-"}
