# SPDX-License-Identifier: Apache-2.0
"""Exported Avro files, read by two engines that share no code with what wrote them."""

import csv
import io
import json
import os
import pathlib
import subprocess

import chdb
import polars
import pytest

BUILD = pathlib.Path(os.environ["BUILD"])
SYNCTALLY = BUILD / "bin" / "synctally"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two ranks of a program, exported to one folder, and what the report says of them."""
    directory = tmp_path_factory.mktemp("avro")
    for rank in range(2):
        environment = dict(os.environ, RANK=str(rank), LD_PRELOAD=str(BUILD / "lib" / "libsynctally.so"))
        environment.update(SYNCTALLY_OUT=str(directory / "run" / "%r.trace"), SYNCTALLY_SIM="clock=virtual")
        (directory / "run").mkdir(exist_ok=True)
        subprocess.run(
            [BUILD / "examples" / "trainer", str(8 + rank)], env=environment, check=True, capture_output=True, timeout=60
        )
    report = subprocess.run(
        [SYNCTALLY, "report", directory / "run", "--format", "json"], check=True, capture_output=True, timeout=60
    )
    subprocess.run(
        [SYNCTALLY, "export", directory / "run", "--to", "avro", "-O", directory / "acts"], check=True, timeout=60
    )
    return directory / "acts", json.loads(report.stdout)


def test_polars_reads_what_the_report_says(exported):
    folder, report = exported
    files = sorted(folder.glob("*.avro"))
    assert len(files) == 2 and all(".rank" in path.name for path in files)
    acts = polars.concat([polars.read_avro(path) for path in files])
    counted = acts.filter(polars.col("sync") & polars.col("counted"))
    assert counted.height == report["totals"]["syncs"] > 0
    assert counted["waited_ns"].sum() == report["totals"]["waited_ns"] > 0
    assert counted["blocked_ns"].sum() == report["totals"]["blocked_ns"]
    assert set(acts["rank"]) == {0, 1}
    assert acts.filter(~polars.col("sync"))["outcome"].unique().to_list() in ([], ["-"])
    by_line = counted.group_by("file", "line", "class", "function").agg(polars.len())
    assert by_line.height == len({(s["file"], s["line"], s["class"], s["function"]) for s in report["sites"] if s["class"] != "staging"})


def test_clickhouse_agrees_over_all_files(exported):
    folder, report = exported
    query = f"""
        select rank, class, count() as syncs, sum(waited_ns) as waited, countIf(outcome = 'drain') as drains
        from file('{folder}/*.avro', 'Avro') where sync and counted group by rank, class order by rank, class"""
    rows = list(csv.DictReader(io.StringIO(str(chdb.query(query, "CSVWithNames")))))
    assert sum(int(row["syncs"]) for row in rows) == report["totals"]["syncs"]
    assert sum(int(row["waited"]) for row in rows) == report["totals"]["waited_ns"]
    assert sum(int(row["drains"]) for row in rows) == report["totals"]["drains"] > 0
    assert {int(row["rank"]) for row in rows} == {0, 1}
