#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/SIM-COVERAGE.md: what the simulated libcuda and libcudart implement, and what they refuse.

usage: scripts/sim_coverage.py FOLDER_OF_THE_LIBRARIES        (`make docs` writes the page)

Nothing is listed by hand. A refusal is a weak definition made from the vendor's headers
(sim/gen_refusals.py), an implementation a strong one in its place: the libraries' symbols tell which.
"""

import subprocess
import sys
from pathlib import Path

LIBRARIES = ("libcuda.so.1", "libcudart.so.13", "libcudart.so.12")

PAGE = """\
<!-- Made by `make docs` from the libraries' symbols. -->
# What the simulated device has of CUDA's driver and runtime

Every function that the headers of CUDA 12 and 13 declare is there. Those below are implemented, by the rules of [SYNC-RULES.md](SYNC-RULES.md) and
as [SIM.md](SIM.md) says. Every other one refuses: it changes nothing, says its name on stderr once, and returns "not supported" (801).
`tests/test_sim_table.py` walks the headers, and calls each that refuses.
{lists}"""


def exports(library):
    """{name: whether it is implemented} of the CUDA functions that a library exports."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in output.splitlines()]
    return {
        name.split("@")[0]: kind == "T"
        for _, kind, name in (row for row in rows if len(row) == 3)
        if kind in "TW" and name.lstrip("_").startswith("cu")
    }


def main():
    lists = []
    for library in LIBRARIES:
        names = sorted(name for name, is_implemented in exports(Path(sys.argv[1]) / library).items() if is_implemented)
        lists.append(f"\n## {library}: {len(names)} functions\n\n{' '.join(f'`{name}`' for name in names)}\n")
    print(PAGE.format(lists="".join(lists)), end="")


if __name__ == "__main__":
    main()
