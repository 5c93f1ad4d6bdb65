# SPDX-License-Identifier: Apache-2.0
"""api/cuda_proc.def against the typedefs of the driver's header: no name is given another ABI's wrapper."""

import collections
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = pathlib.Path(os.environ["CUDA_HOME"]) if os.environ.get("CUDA_HOME") else ROOT / "build" / "cuda13"
TYPEDEFS = HEADERS / "include" / "cudaTypedefs.h"


def abi_versions():
    """base name -> the versions at which its ABI changed"""
    versions = collections.defaultdict(set)
    for name, version in re.findall(r"\*PFN_(cu\w+?)_v(\d+)\)", TYPEDEFS.read_text()):
        versions[name].add(int(version))
    return versions


def rows():
    return re.findall(r"^API\(DRV, (\w+),", (ROOT / "api" / "cuda_api.def").read_text(), re.M)


def proc_table():
    found = re.findall(r"^PROC\((\w+),\s*(\w+),\s*(\d+)\)", (ROOT / "api" / "cuda_proc.def").read_text(), re.M)
    return {(base, int(since)): row for base, row, since in found}


def test_every_abi_of_every_row_is_told_apart():
    versions, table, problems = abi_versions(), proc_table(), []
    assert len(versions) > 300
    for row in rows():
        base = re.sub(r"_v\d$", "", row)
        abis = sorted(versions[base])
        if not abis:
            problems.append(f"{row}: no typedef")
        elif row == base:
            # The plain name is the oldest ABI; later ones need rows of their own, or they would get this wrapper.
            problems += [f"{row}: version {v} is another ABI" for v in abis[1:] if (base, v) not in table]
        elif not any(table.get((base, v)) == row for v in abis):
            problems.append(f"{row}: not reached by cuGetProcAddress({base})")
    problems += [f"{base} {since}: not in the header" for base, since in table if since not in versions[base]]
    problems += [f"{base} {since}: {row} is no row" for (base, since), row in table.items() if row not in rows()]
    assert not problems
