# SPDX-License-Identifier: Apache-2.0
"""Tests of this folder run the Python they are run by, which has PyTorch."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from recording import LIMIT_S, ROOT, SYNCTALLY, Recording, record  # noqa: E402, F401  (names that tests import, a fixture)


@pytest.fixture(scope="session")
def simulated_environment(tmp_path_factory):
    """The environment of a simulated run, with and without the preload library."""
    show = "import os; print(os.environ['LD_PRELOAD'])"
    command = [SYNCTALLY, "run", "-o", tmp_path_factory.mktemp("show"), "--sim=clock=virtual", "--", sys.executable, "-c", show]
    preload = subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_S).stdout.decode().strip()
    ours, *simulated = [entry for entry in preload.replace(" ", ":").split(":") if entry]
    assert ours.endswith("libsynctally.so") and simulated
    environment = dict(os.environ, SYNCTALLY_SIM="clock=virtual")
    return dict(environment, LD_PRELOAD=":".join(simulated)), dict(environment, LD_PRELOAD=preload)
