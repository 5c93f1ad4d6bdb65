# SPDX-License-Identifier: Apache-2.0
"""A model split over two devices: activations go over and gradients come back; one readback per step, from the second."""

import torch
from torch import nn

torch.manual_seed(0)
first = nn.Linear(64, 256).to("cuda:0")
second = nn.Linear(256, 1).to("cuda:1")
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
batch = torch.ones(256, 64, device="cuda:0")
for step in range(60):
    optimizer.zero_grad()
    hidden = torch.relu(first(batch)).to("cuda:1")
    loss = second(hidden).sum()
    loss.backward()
    optimizer.step()
    loss.item()
# Bytes that the host put there do cross.
there = torch.arange(1000, dtype=torch.int32).to("cuda:0").to("cuda:1").cpu()
assert there.tolist() == list(range(1000))
assert first.weight.device.index == 0 and hidden.device.index == 1
print(step + 1, torch.cuda.device_count(), torch.cuda.can_device_access_peer(0, 1))
