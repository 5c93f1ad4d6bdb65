# SPDX-License-Identifier: Apache-2.0
"""On a device of 1 GiB: memory that only the cache holds is given back and used again; what does not fit is an error."""

import torch

MIB = 1 << 20

first = torch.empty(600 * MIB, dtype=torch.uint8, device="cuda")
del first
second = torch.empty(700 * MIB, dtype=torch.uint8, device="cuda")
print("retries", torch.cuda.memory_stats()["num_alloc_retries"])
try:
    torch.empty(700 * MIB, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print("refused", error)
free, total = torch.cuda.mem_get_info()
print("free", free // MIB, "of", total // MIB)
del second
third = torch.zeros(800 * MIB, dtype=torch.uint8, device="cuda")
print("after", third[-1].item())
