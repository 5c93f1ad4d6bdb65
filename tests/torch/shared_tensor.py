# SPDX-License-Identifier: Apache-2.0
"""A tensor of the device goes to another process through a queue, is read and changed there, and read again here."""

import torch
import torch.multiprocessing as multiprocessing


def work(todo, done):
    shared = todo.get()
    seen = shared.cpu()
    shared.copy_(seen * 2)
    torch.cuda.synchronize()
    done.put((int(seen.sum()), shared.device.index))
    del shared
    todo.get()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    todo, done = context.Queue(), context.Queue()
    child = context.Process(target=work, args=(todo, done))
    child.start()
    numbers = torch.arange(1000, dtype=torch.int64).pin_memory().to("cuda", non_blocking=True)
    todo.put(numbers)
    print(*done.get(timeout=120))
    print(int(numbers.cpu().sum()))
    todo.put(None)
    child.join(120)
    print(child.exitcode)
