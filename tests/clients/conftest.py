# SPDX-License-Identifier: Apache-2.0
"""Programs of other people's libraries, each run by the Python that has them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from recording import record  # noqa: E402, F401  (a fixture)
