# SPDX-License-Identifier: Apache-2.0
"""A trainer whose batches grow: its allocator asks for more memory in every step. One readback per step."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    batch = torch.ones(1024 * (step + 1), 64, device="cuda")
    loss = model(batch).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
print(step + 1, torch.cuda.memory_reserved(), torch.cuda.get_allocator_backend())
