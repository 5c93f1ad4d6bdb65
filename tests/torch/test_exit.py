# SPDX-License-Identifier: Apache-2.0
"""A plain training script ends as quietly with the simulated device and the recording as it would without.

SYNCTALLY_TEST_EXITS=200 makes it end 200 times.

The script waits for one thing that is PyTorch's own: backward() returns before the engine's device thread has let go of
the graph's task, and with it of a Python object. An interpreter older than 3.14 that is ended in that moment takes the
thread down where C++ allows no unwinding, and the process aborts with "terminate called without an active exception",
on any device and without us (pytorch/pytorch issues 38228 and 190489, python/cpython issue 87135). docs/SIM.md,
"Known of others", has the account.
"""

import concurrent.futures
import os
import subprocess
import sys

from conftest import LIMIT_S

N_RUNS = int(os.environ.get("SYNCTALLY_TEST_EXITS", "12"))

SCRIPT = """
import contextvars
import time
import weakref

import torch


class Marker:
    pass


held = contextvars.ContextVar("held")
marker = Marker()
is_held = weakref.ref(marker)
held.set(marker)  # the graph's task keeps a copy of the context
del marker

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 32, device="cuda")
y = torch.zeros(4, dtype=torch.long, device="cuda")
for step in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())

held.set(None)
while is_held():
    time.sleep(0)
"""


def run_once(environment, directory):
    directory.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, env=environment, cwd=directory, timeout=LIMIT_S, check=False
    )
    return done.returncode, done.stdout, done.stderr, len(list(directory.glob("*.trace")))


def test_every_run_ends_quietly(simulated_environment, tmp_path):
    _, recording = simulated_environment
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda n: run_once(recording, tmp_path / str(n)), range(N_RUNS)))
    odd = [(n, outcome) for n, outcome in enumerate(outcomes) if outcome != (0, b"0.0\n", b"", 1)]
    assert not odd, f"{len(odd)} of {N_RUNS}: {odd[:3]}"
