#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an input of fuzz_report from a trace: its size, and the runs that are not zeros.

    sparse.py TRACE >INPUT
"""

import re
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
out = sys.stdout.buffer
out.write(struct.pack("<I", len(data)))
for run in re.finditer(rb"(?:[^\0]\0{0,8})+", data):
    for at in range(run.start(), run.end(), 60000):
        part = data[at : min(at + 60000, run.end())]
        out.write(struct.pack("<IH", at, len(part)) + part)
