# SPDX-License-Identifier: Apache-2.0
"""Makes the part of a face library that only the vendor's headers can know.

usage: gen_refusals.py cuda|cudart OUT.c PREPROCESSED_HEADER...

Writes, for every function the headers declare, a weak definition that refuses.
An implementation elsewhere in the library replaces it at link time, so there is
no list of what is missing. For `cuda` also the table behind cuGetProcAddress():
base name, first CUDA version, address, from the PFN_<name>_v<version> typedefs.
"""

import re
import sys
from collections import defaultdict

RETURN = {"cuda": "CUresult", "cudart": "cudaError_t"}
DECLARATION = {
    "cuda": re.compile(r"\bCUresult\s+(cu[A-Z]\w*)\s*\("),
    "cudart": re.compile(r"\bcudaError_t\s+(_*cuda[A-Z]\w*)\s*\("),
}
TYPEDEF = re.compile(r"\bPFN_(cu[A-Z]\w*?)_v(\d+)(_pts?[zd]s?)?\)")
SPELLING = re.compile(r"_pt(?:sz|ds)$")


def versions_of(symbols, base, per_thread):
    """The exported versions of one function, oldest first: cuX, cuX_v2, cuX_v3 ..."""
    pattern = re.compile(re.escape(base) + r"(?:_v(\d+))?" + (r"_pt(?:sz|ds)" if per_thread else ""))
    found = []
    for symbol in symbols:
        match = pattern.fullmatch(symbol)
        if match:
            found.append((int(match.group(1) or 1), symbol))
    return [symbol for _, symbol in sorted(found)]


def proc_rows(typedefs, symbols):
    """(base, CUDA version, symbol, per-thread?) rows; the newest typedef is the newest symbol, and so on down."""
    rows = []
    for (base, per_thread), versions in sorted(typedefs.items()):
        exported = versions_of(symbols, base, per_thread)
        for version, symbol in zip(sorted(versions, reverse=True), reversed(exported)):
            rows.append((base, version, symbol, per_thread))
    return sorted(rows)


def main():
    kind, out_path, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
    symbols, typedefs = set(), defaultdict(set)
    for header in headers:
        with open(header) as f:
            text = f.read()
        symbols.update(DECLARATION[kind].findall(text))
        for base, version, spelling in TYPEDEF.findall(text):
            typedefs[base, bool(spelling)].add(int(version))
    if kind == "cuda":
        # Functions that only a typedef tells of, such as cuProfilerStart.
        for base, per_thread in typedefs:
            if not per_thread and not versions_of(symbols, base, False):
                symbols.add(base)
    with open(out_path, "w") as out:
        out.write("/* Made by sim/gen_refusals.py from the vendor's headers. */\n")
        out.write('#include "sim/refusals.h"\n\n')
        for symbol in sorted(symbols):
            out.write(f"REFUSE({symbol})\n")
        if kind == "cuda":
            out.write("\nconst struct sim_proc sim_procs[] = {\n")
            for base, version, symbol, per_thread in proc_rows(typedefs, symbols):
                out.write(f'\t{{ "{base}", {version}, {int(per_thread)}, {symbol} }},\n')
            out.write("};\nconst unsigned sim_n_procs = sizeof sim_procs / sizeof sim_procs[0];\n")


main()
