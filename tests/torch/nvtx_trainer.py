# SPDX-License-Identifier: Apache-2.0
"""A trainer whose iterations are NVTX ranges, which end where its optimizer has stepped."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 4).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(8, 16).to("cuda")

for i in range(12):
    level = torch.cuda.nvtx.range_push(f"iteration {i}")
    assert level == -2, level
    with torch.cuda.nvtx.range("forward"):
        loss = model(data).square().mean()
    print(loss.item())
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    print(norm.item())
    optimizer.step()
    torch.cuda.nvtx.range_pop()
