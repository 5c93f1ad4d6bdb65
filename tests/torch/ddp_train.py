# SPDX-License-Identifier: Apache-2.0
"""A trainer of several processes, as torchrun starts it. It reads its loss every 20 steps, and adds it up over the ranks."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 60

local_rank = int(os.environ["LOCAL_RANK"])
device = local_rank if local_rank < torch.cuda.device_count() else 0
torch.cuda.set_device(device)
dist.init_process_group("nccl")
torch.manual_seed(dist.get_rank())
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
model = DistributedDataParallel(model, device_ids=[device])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    batch = torch.randn(32, 64).pin_memory().cuda(non_blocking=True)
    target = torch.zeros(32, dtype=torch.long).pin_memory().cuda(non_blocking=True)
    loss = torch.nn.functional.cross_entropy(model(batch), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 20 == 19:
        total = loss.detach().clone()
        dist.all_reduce(total)
        # One write: the ranks share their output.
        os.write(1, f"rank {dist.get_rank()} step {step} loss {total.item()}\n".encode())
dist.barrier()
dist.destroy_process_group()
