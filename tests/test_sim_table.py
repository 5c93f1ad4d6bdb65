# SPDX-License-Identifier: Apache-2.0
"""Every function of CUDA's headers is on the simulated device: implemented, or refused by name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import sim_coverage  # noqa: E402
import test_api_table  # noqa: E402
from test_api_table import foreign  # noqa: E402, F401

SIM = Path(os.environ.get("BUILD", ROOT / "build")) / "lib/sim"
NOT_SUPPORTED = 801
# Defined by a header in the program itself, for per-thread streams.
INLINE = re.compile(r"\bstatic inline CUresult (\w+)\(")

CALL_EACH = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for name in sys.argv[2:]:
    for _ in range(2):
        print(name, library[name]())
"""


def library_of(name, version):
    return f"libcudart.so.{version}" if test_api_table.is_runtime(name) else "libcuda.so.1"


@pytest.mark.parametrize("version", (12, 13))
def test_every_function_of_the_headers_is_there(version, foreign):  # noqa: F811
    include = test_api_table.include_of(version)
    exported = {library: sim_coverage.exports(SIM / library) for library in sim_coverage.LIBRARIES}
    names = test_api_table.declared(include, foreign)
    assert len(names) > 1000
    names -= set(INLINE.findall((include / "cuda.h").read_text(errors="replace")))
    assert [name for name in sorted(names) if name not in exported[library_of(name, version)]] == []


@pytest.mark.parametrize("library", sim_coverage.LIBRARIES)
def test_each_refusal_says_its_name_once_and_returns_not_supported(library):
    refused = sorted(name for name, is_done in sim_coverage.exports(SIM / library).items() if not is_done)
    assert refused
    run = subprocess.run(
        [sys.executable, "-c", CALL_EACH, SIM / library, *refused], capture_output=True, text=True, check=True
    )
    assert run.stdout.split("\n")[:-1] == [f"{name} {NOT_SUPPORTED}" for name in refused for _ in range(2)]
    said = [line.split(":")[1].strip() for line in run.stderr.splitlines() if line.startswith("synctally sim:")]
    assert said == refused
