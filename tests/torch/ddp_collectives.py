# SPDX-License-Identifier: Apache-2.0
"""Every collective of torch.distributed on tensors that the host uploaded, so that their sums can be checked."""

import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank if local_rank < torch.cuda.device_count() else 0)
dist.init_process_group("nccl")
rank, n = dist.get_rank(), dist.get_world_size()


def expect(tensor, wanted):
    """Reads the tensor back and compares."""
    assert torch.equal(tensor.cpu(), wanted), (tensor.cpu(), wanted)


def upload(*shape, value=None):
    return torch.full(shape, float(rank + 1) if value is None else value).cuda()


def check_reductions():
    numbers = torch.arange(1000, dtype=torch.float32)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8):
        tensor = (numbers % 100).to(dtype).cuda()
        dist.all_reduce(tensor)
        expect(tensor, (n * (numbers % 100)).to(dtype))
    for operation, wanted in (
        (dist.ReduceOp.MAX, n),
        (dist.ReduceOp.MIN, 1),
        (dist.ReduceOp.AVG, (n + 1) / 2),
        (dist.ReduceOp.PRODUCT, 1 if n == 1 else 2),
    ):
        tensor = upload(33)
        dist.all_reduce(tensor, op=operation)
        expect(tensor, torch.full((33,), float(wanted)))
    tensor = upload(8)
    dist.reduce(tensor, dst=1)
    if rank == 1:
        expect(tensor, torch.full((8,), n * (n + 1) / 2))
    scattered = torch.empty(50, device="cuda")
    dist.reduce_scatter_tensor(scattered, torch.arange(50.0 * n).cuda())
    expect(scattered, n * torch.arange(50.0 * rank, 50.0 * (rank + 1)))


def check_gathers():
    parts = [torch.empty(100, device="cuda") for _ in range(n)]
    dist.all_gather(parts, upload(100))
    for other, part in enumerate(parts):
        expect(part, torch.full((100,), other + 1.0))
    whole = torch.empty(100 * n, device="cuda")
    dist.all_gather_into_tensor(whole, upload(100))
    expect(whole, torch.arange(1.0, n + 1).repeat_interleave(100))
    tensor = upload(10)
    dist.broadcast(tensor, src=1)
    expect(tensor, torch.full((10,), 2.0))
    exchanged = torch.empty(10 * n, device="cuda")
    dist.all_to_all_single(exchanged, (torch.arange(10.0 * n) + 1000 * rank).cuda())
    expect(exchanged, torch.cat([1000 * r + torch.arange(10.0 * rank, 10.0 * (rank + 1)) for r in range(n)]))


def check_sends():
    received = torch.empty(64, device="cuda")
    work = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, upload(64), (rank + 1) % n),
            dist.P2POp(dist.irecv, received, (rank - 1) % n),
        ]
    )
    for each in work:
        each.wait()
    expect(received, torch.full((64,), (rank - 1) % n + 1.0))


def check_groups():
    """Groups of NCCL's and of gloo's, which stays with the host."""
    group = dist.new_group(list(range(n)), backend="nccl")
    tensor = upload(5)
    work = dist.all_reduce(tensor, group=group, async_op=True)
    work.wait()
    expect(tensor, torch.full((5,), n * (n + 1) / 2))
    dist.barrier(group=group)
    for objects_of in (None, dist.new_group(backend="gloo")):
        objects = [None] * n
        dist.all_gather_object(objects, {"rank": rank, "name": "x" * (100 * rank)}, group=objects_of)
        assert objects == [{"rank": r, "name": "x" * (100 * r)} for r in range(n)]


check_reductions()
check_gathers()
check_sends()
check_groups()
dist.barrier()
# One write: the ranks share their output.
os.write(1, f"rank {rank} of {n}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}\n".encode())
dist.destroy_process_group()
