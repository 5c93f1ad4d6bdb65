# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs on the simulated device, and reads what was recorded of them."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
SYNCTALLY = BUILD / "bin" / "synctally"
LIMIT_S = 600
# The classes of sites that are waits.
SYNCS = ("readback", "upload", "explicit", "implicit")


class Recording:
    """One recorded run: its exit status, its output, its traces and, on request, its ledger."""

    def __init__(self, directory, command, sim="clock=virtual", options=(), preload=True, python=sys.executable, env=()):
        self.directory = directory
        self.ledger = directory / "ledger"
        environment = dict(os.environ, SYNCTALLY_SIM_LEDGER=str(self.ledger), PYTHONHASHSEED="0")
        environment.update(env)
        if not preload:
            environment["SYNCTALLY"] = "off"
        self.done = subprocess.run(
            [SYNCTALLY, "run", "-o", directory / "traces", f"--sim={sim}", *options, "--", python, *map(str, command)],
            capture_output=True,
            env=environment,
            timeout=LIMIT_S,
            check=False,
            cwd=directory,
        )

    @property
    def traces(self):
        return sorted((self.directory / "traces").glob("*.trace"))

    def report(self, *options):
        done = subprocess.run(
            [SYNCTALLY, "report", "--format", "json", *options, self.directory / "traces"],
            capture_output=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def text(self, *options):
        command = [SYNCTALLY, "report", *options, self.directory / "traces"]
        return subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_S).stdout.decode()

    def sim_diff(self):
        """What `synctally sim-diff` says of the ledger and the trace: (exit status, text)."""
        (trace,) = self.traces
        done = subprocess.run(
            [SYNCTALLY, "sim-diff", self.ledger, trace], capture_output=True, check=False, timeout=LIMIT_S
        )
        return done.returncode, (done.stdout + done.stderr).decode()


@pytest.fixture
def record(tmp_path):
    """record(command, ...): runs and records a Python program on the simulated device."""
    n = 0

    def run(*command, **settings):
        nonlocal n
        n += 1
        directory = tmp_path / str(n)
        directory.mkdir()
        return Recording(directory, command, **settings)

    return run
