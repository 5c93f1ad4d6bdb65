# SPDX-License-Identifier: Apache-2.0
"""Reads its loss in each step; a watchdog ends it if a step does not come to its end."""

import os
import threading

import torch

w = torch.ones(8, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
done = -1


def watch():
    os.write(1, f"hung after {done}\n".encode())
    os._exit(3)


for step in range(20):
    optimizer.zero_grad()
    loss = (w * 3).sum()
    loss.backward()
    optimizer.step()
    watchdog = threading.Timer(10, watch)
    watchdog.daemon = True
    watchdog.start()
    try:
        loss.item()
    except RuntimeError as error:
        print("failed after", done, str(error).splitlines()[0])
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            print("still failed")
        os._exit(4)
    watchdog.cancel()
    done = step
print("done", done)
