# SPDX-License-Identifier: Apache-2.0
"""Tests of this folder run the Python they are run by, which has PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from recording import LIMIT_S, ROOT, SYNCTALLY, Recording, record  # noqa: E402, F401  (names that tests import, a fixture)
