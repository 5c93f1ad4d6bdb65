#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/API-COVERAGE.md: every CUDA function, and what the tables in api/ say of it.

usage: scripts/api_coverage.py LIBSYNCTALLY        (`make docs` writes the page)

The tables are read by the C preprocessor, as everything else reads them; the
library tells which functions it stands in for without a row. The test of the
tables reads them by this file, too.
"""

import re
import subprocess
import sys
from collections import Counter, namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# table: "api" (we intercept it) or "rest"; kind: a row of sync_class.def or of effect.def
Row = namedtuple("Row", "table lib name spelling kind")
Kind = namedtuple("Kind", "id rule may_submit may_wait")

# Each field is a string, so that nothing of a name can be a macro's.
READER = """
#define CUDART_VERSION {version}
#define API(lib, name, spelling, class, params, args, facts) ROW "api" #lib #name #spelling #class
#define REST(lib, name, spelling, effect) ROW "rest" #lib #name #spelling #effect
#define SYNC_CLASS(id, label, recorded, rule) CLASS #id rule
#define EFFECT(id, may_submit, may_wait, rule) EFFECT_ #id rule #may_submit #may_wait
#include "api/cuda_api.def"
#include "api/cuda_rest.def"
#include "api/sync_class.def"
#include "api/effect.def"
"""

PAGE = """\
<!-- Made by `make docs` from the tables in api/; edit those. -->
# Every CUDA function, and what we do about it

{n_intercepted} functions are intercepted: a wrapper notes what the call was given, and times the recorded ones. {n_rest} more
are known and left alone; the table says what calling one does, so that what we do not follow is never taken for
nothing. A function that is on neither list, from a newer CUDA, is taken for one that submits work.

The lists are complete for the headers of CUDA 12 and 13 and for the functions that CUPTI can trace; a test walks both
(`tests/test_api_table.py`). How to add one: [EXTENDING.md](EXTENDING.md). The rules R1 to R23: [SYNC-RULES.md](SYNC-RULES.md).

## Classes of the functions that are intercepted

| class | functions | what a call does |
|---|---:|---|
{classes}

## Effects of the functions that are not

A function has the first effect of this list that is true of it.

| effect | functions | may submit work | may wait | what a call does |
|---|---:|---|---|---|
{effects}

## Functions

*Spellings*: what else is exported, where stream 0 means the per-thread default stream. *Intercepted* "by hand": the
function finds others, and where it finds one that is intercepted, the program gets ours.

| function | layer | spellings | class or effect | intercepted | rules |
|---|---|---|---|---|---|
{functions}
"""


def strings(line):
    """The C string literals of a line, each with its neighbours as they came from the preprocessor."""
    return re.findall(r'"((?:[^"\\]|\\.)*)"', line)


def read_tables(cuda_version=13000, root=ROOT):
    """(rows, classes, effects) of the tables as they are for one version of the runtime's headers."""
    text = subprocess.run(
        ["gcc", "-E", "-P", "-x", "c", "-I", str(root), "-"],
        input=READER.format(version=cuda_version), capture_output=True, text=True, check=True,
    ).stdout
    rows, classes, effects = [], {}, {}
    for tag, rest in re.findall(r'\b(ROW|CLASS|EFFECT_)\b((?:\s*"(?:[^"\\]|\\.)*")+)', text):
        fields = strings(rest)
        if tag == "ROW":
            rows.append(Row(*fields))
        elif tag == "CLASS":
            classes[fields[0]] = Kind(fields[0], fields[1], None, None)
        else:
            effects[fields[0]] = Kind(fields[0], fields[1], fields[2] == "1", fields[3] == "1")
    return rows, classes, effects


def exported(row):
    """The names under which a row's function can be called."""
    return [row.name] if row.spelling == "NONE" else [row.name, f"{row.name}_{row.spelling.lower()}"]


def natural(name):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def exports_of(library):
    """The names that a shared library exports, without versions."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in text.splitlines()}


def page(library):
    rows, classes, effects = read_tables()
    by_hand = exports_of(library)
    count = Counter((row.table, row.kind) for row in rows)
    rules = {**{("api", k.id): k.rule for k in classes.values()}, **{("rest", k.id): k.rule for k in effects.values()}}

    def line(row):
        numbers = re.search(r"\((R\d[^)]*)\)", rules[row.table, row.kind])
        is_intercepted = "yes" if row.table == "api" else "by hand" if row.name in by_hand else "no"
        layer = {"RT": "runtime", "DRV": "driver"}[row.lib]
        spellings = " ".join(f"`{name[len(row.name):]}`" for name in exported(row)[1:])
        cells = (f"`{row.name}`", layer, spellings, row.kind, is_intercepted, numbers.group(1) if numbers else "")
        return "| " + " | ".join(cells) + " |"

    def yes(flag):
        return "yes" if flag else "no"

    return PAGE.format(
        n_intercepted=sum(row.table == "api" for row in rows),
        n_rest=sum(row.table == "rest" for row in rows),
        classes="\n".join(f"| {k.id} | {count['api', k.id]} | {k.rule} |" for k in classes.values()),
        effects="\n".join(
            f"| {k.id} | {count['rest', k.id]} | {yes(k.may_submit)} | {yes(k.may_wait)} | {k.rule} |"
            for k in effects.values()
        ),
        functions="\n".join(map(line, sorted(rows, key=lambda row: (row.lib == "DRV", natural(row.name))))),
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(sys.argv[1]))
