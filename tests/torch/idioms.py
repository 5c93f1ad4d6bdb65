# SPDX-License-Identifier: Apache-2.0
"""What people write with PyTorch, and how often each makes the host wait for the device.

`IDIOMS` is a table of (name, code, logical syncs). Run as a program, this module
executes each code twice on the device: once under another file name, so that
allocations and look-ups of the first time do not count, and once as
"<idiom N>", which then is the file of every call it makes.
"""

# Kernels do not compute on the simulated device, so the check of the repeats reads zero and the call fails,
# after the same two readbacks as on a GPU: the number of elements, and the result of the check.
REPEAT = """
try:
    torch.repeat_interleave(x, reps)
except RuntimeError as error:
    assert "repeats can not be negative" in str(error)
"""

IDIOMS = [
    # One value read by the host.
    ("t.item()", "t.item()", 1),
    ("float(t)", "float(t)", 1),
    ("int(t)", "int(t)", 1),
    ("if tb", "bool(tb)", 1),
    ("v.tolist()", "v.tolist()", 1),
    ("v.cpu()", "v.cpu()", 1),
    ("big.cpu() 4 MB", "big.cpu()", 1),
    ("v.to('cpu', non_blocking=True)", "v.to('cpu', non_blocking=True)", 0),
    ("v.cpu().numpy()", "v.cpu().numpy()", 1),
    ("pinned.copy_(other dtype, non_blocking)", "pinned.copy_(v64, non_blocking=True)", 0),
    ("pinned.copy_(same dtype, non_blocking)", "pinned.copy_(x4096, non_blocking=True)", 0),
    ("repr(v)", "repr(v)", 2),
    ("repr(t)", "repr(t)", 2),
    ("f'{t:.3f}'", "f'{t:.3f}'", 1),
    # Host data brought to the device.
    ("torch.tensor(1.0, device=)", "torch.tensor(1.0, device='cuda')", 1),
    ("torch.tensor([1, 2, 3]).cuda()", "torch.tensor([1, 2, 3]).cuda()", 1),
    ("torch.tensor([1, 2, 3], device=)", "torch.tensor([1, 2, 3], device='cuda')", 1),
    ("pageable 16 KB .to()", "cpu4096.to('cuda')", 1),
    ("pageable 1 MB .to()", "cpu_big.to('cuda')", 1),
    ("pageable .to(non_blocking)", "cpu4096.to('cuda', non_blocking=True)", 0),
    ("pinned .to()", "pinned.to('cuda')", 1),
    ("pinned .to(non_blocking)", "pinned.to('cuda', non_blocking=True)", 0),
    ("pin_memory().to(non_blocking)", "cpu4096.pin_memory().to('cuda', non_blocking=True)", 0),
    ("as_tensor(numpy)", "torch.as_tensor(array, device='cuda')", 1),
    ("torch.full", "torch.full((), 2.0, device='cuda')", 0),
    ("torch.zeros, arange", "torch.zeros(8, device='cuda'), torch.arange(8, device='cuda')", 0),
    ("linspace", "torch.linspace(0, 1, 8, device='cuda')", 0),
    # Sizes and indices that depend on data.
    ("x[mask]", "x[mask]", 1),
    ("masked_select", "torch.masked_select(x, mask)", 1),
    ("nonzero", "torch.nonzero(mask)", 1),
    ("torch.where(cond)", "torch.where(mask)", 1),
    ("torch.where(c, a, b)", "torch.where(mask, x, x)", 0),
    ("unique", "torch.unique(ints)", 1),
    ("x[cpu index]", "x[idx_cpu]", 1),
    ("x[device index]", "x[idx]", 0),
    ("x[list]", "x[[1, 2, 3]]", 1),
    ("x[0] = 3.0, one element", "x[0] = 3.0", 1),
    ("x[0] = 3.0, a row", "table[0] = 3.0", 0),
    ("x[0-d device index]", "x[one]", 1),
    ("x[mask] = number", "x[mask] = 1.0", 0),
    ("x[mask] = 0-d device tensor", "x[mask] = t", 1),
    ("index_put_((mask,), vector)", "x.index_put_((mask,), v[:1])", 1),
    ("masked_fill_", "x.masked_fill_(mask, 0.0)", 0),
    ("repeat_interleave(tensor)", REPEAT, 2),
    ("repeat_interleave(output_size=)", "torch.repeat_interleave(x, reps, output_size=8)", 0),
    ("one_hot", "F.one_hot(ints)", 1),
    ("one_hot(num_classes)", "F.one_hot(ints, num_classes=8)", 0),
    ("bincount", "torch.bincount(ints)", 2),
    ("histc", "torch.histc(x)", 2),
    # Conditions.
    ("isnan().any() if", "bool(torch.isnan(x).any())", 1),
    ("isfinite(t).item()", "torch.isfinite(t).item()", 1),
    ("allclose", "torch.allclose(x, x2)", 1),
    ("equal", "torch.equal(x, x2)", 1),
    ("t > 0 and", "t > 0 and 1", 1),
    ("max(t, 0)", "max(t, 0)", 1),
    ("argmax().item()", "x.argmax().item()", 1),
    ("accuracy", "(ints == ints2).sum().item()", 1),
    # What Categorical(probs) does to check its argument; it fails here, as every check that reads zero.
    ("Categorical's check", "bool(torch.distributions.constraints.simplex.check(probs).all())", 1),
    # Training.
    ("clip_grad_norm_", "torch.nn.utils.clip_grad_norm_(params, 1.0)", 0),
    ("clip_grad_norm_(foreach=False)", "torch.nn.utils.clip_grad_norm_(params, 1.0, foreach=False)", 0),
    ("clip_grad_norm_(error_if_nonfinite)", "torch.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)", 1),
    ("scaler.scale(loss).backward()", "scaler.scale(F.mse_loss(net(batch), target)).backward()", 0),
    ("scaler.unscale_", "scaler.unscale_(sgd)", 0),
    ("scaler.step(SGD) after unscale_", "scaler.step(sgd)", 1),
    ("scaler.update()", "scaler.update()", 0),
    ("Adam", "adam.step()", 0),
    ("Adam foreach=False", "adam_single.step()", 0),
    ("Adam capturable", "adam_capturable.step()", 0),
    ("Adam fused", "adam_fused.step()", 0),
    ("SGD", "sgd.step()", 0),
    ("zero_grad()", "sgd.zero_grad()", 0),
    ("zero_grad(False)", "sgd.zero_grad(set_to_none=False)", 0),
    ("forward", "net(batch)", 0),
    ("cross_entropy", "F.cross_entropy(net(batch), classes)", 0),
    ("backward()", "F.mse_loss(net(batch), target).backward()", 0),
    ("24 x item in a dict", "{k: m.item() for k, m in metrics.items()}", 24),
    ("stack(24).tolist()", "torch.stack(list(metrics.values())).tolist()", 1),
    ("state_dict to cpu", "{k: p.cpu() for k, p in net.state_dict().items()}", 4),
    ("torch.save", "torch.save(net.state_dict(), io.BytesIO())", 4),
    ("deepcopy", "copy.deepcopy(net)", 0),
    ("DataLoader pin_memory", "[b.to('cuda', non_blocking=True) for b in next(iter(loader))]", 0),
    # Explicit.
    ("torch.cuda.synchronize()", "torch.cuda.synchronize()", 1),
    ("event.record()", "event.record()", 0),
    ("event.synchronize()", "event.synchronize()", 1),
    ("event.query()", "event.query()", 0),
    ("stream.synchronize()", "torch.cuda.current_stream().synchronize()", 1),
    ("stream.query()", "torch.cuda.current_stream().query()", 0),
    ("Stream() and wait", "torch.cuda.Stream().wait_stream(torch.cuda.current_stream())", 0),
    ("empty_cache()", "torch.cuda.empty_cache()", 0),
    ("memory_allocated()", "torch.cuda.memory_allocated()", 0),
    ("mem_get_info()", "torch.cuda.mem_get_info()", 0),
    # The rest of what a step does.
    ("multinomial", "torch.multinomial(probs, 2)", 0),
    ("manual_seed", "torch.manual_seed(1)", 0),
    ("dropout", "F.dropout(x)", 0),
    ("randperm", "torch.randperm(16, device='cuda')", 0),
    ("topk", "x.topk(2)", 0),
    ("sort", "x.sort()", 0),
    ("std, mean", "x.std(), x.mean()", 0),
    ("linalg.norm", "torch.linalg.norm(x)", 0),
    ("embedding", "F.embedding(ints, table)", 0),
    ("sdpa", "F.scaled_dot_product_attention(qkv, qkv, qkv)", 0),
]

# PyTorch's own oracle, test_torch.py::TestTorchDeviceType::test_sync_warning: 8 that wait, 10 that do not.
SYNC_WARNING = [
    ("x[mask] = y", "x[mask] = y", 1),
    ("x[cpu index] = y", "x[idx_cpu] = y", 1),
    ("x[mask]", "x[mask]", 1),
    ("x[cpu index]", "x[idx_cpu]", 1),
    ("nonzero", "x.nonzero()", 1),
    ("if y", "bool(one)", 1),
    ("one_hot", "F.one_hot(ints)", 1),
    ("repeat_interleave(x, repeats)", REPEAT, 2),
    ("x[mask] = 1.", "x[mask] = 1.", 0),
    ("x[cpu mask] = y", "x[mask_cpu] = y", 0),
    ("x[device index] = y", "x[idx] = y3", 0),
    ("x[cpu mask]", "x[mask_cpu]", 0),
    ("x[device index]", "x[idx]", 0),
    ("one_hot(num_classes=)", "F.one_hot(ints, num_classes=8)", 0),
    ("randperm", "torch.randperm(5, device='cuda')", 0),
    ("repeat_interleave(x, 2, output_size=)", "torch.repeat_interleave(x, 2, output_size=16)", 0),
    ("repeat_interleave(x, repeats, output_size=)", "torch.repeat_interleave(x, reps, output_size=8)", 0),
    ("any(y)", "torch.any(x)", 0),
]

# Up to PyTorch 2.8 the positions of a mask of the host came by a waiting upload (pull request 156384 ended that).
UP_TO_2_8 = {"x[cpu mask] = y": 1, "x[cpu mask]": 1}


def expected(rows, torch_version):
    """Name to logical syncs, as this version of PyTorch (major, minor) does it."""
    counts = {name: syncs for name, _, syncs in rows}
    if torch_version <= (2, 8):
        counts.update((name, syncs) for name, syncs in UP_TO_2_8.items() if name in counts)
    return counts


def world():
    """The names the codes use."""
    import copy
    import io

    import torch
    import torch.nn.functional as F

    device = "cuda"
    net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(device)
    params = list(net.parameters())
    batch = torch.randn(4, 32, device=device)
    target = torch.randn(4, 8, device=device)
    F.mse_loss(net(batch), target).backward()
    data = torch.utils.data.TensorDataset(torch.randn(16, 32), torch.zeros(16, dtype=torch.long))
    t = torch.ones((), device=device)
    x = torch.ones(8, device=device)
    names = {
        "torch": torch,
        "F": F,
        "copy": copy,
        "io": io,
        "t": t,
        "tb": t > 0,
        "one": torch.ones((), dtype=torch.long, device=device),
        "v": torch.ones(8, device=device),
        "v64": torch.ones(4096, dtype=torch.float64, device=device),
        "x4096": torch.ones(4096, device=device),
        "big": torch.ones(1000000, device=device),
        "pinned": torch.ones(4096).pin_memory(),
        "cpu4096": torch.ones(4096),
        "cpu_big": torch.ones(262144),
        "array": torch.ones(4).numpy(),
        "x": x,
        "x2": torch.ones(8, device=device),
        "y": t,
        "y3": torch.ones(3, device=device),
        "mask": x > 0,
        "mask_cpu": torch.tensor([True, False] * 4),
        "idx": torch.arange(3, device=device),
        "idx_cpu": torch.tensor([1, 2, 3]),
        "ints": torch.zeros(8, dtype=torch.long, device=device),
        "ints2": torch.zeros(8, dtype=torch.long, device=device),
        "reps": torch.ones(8, dtype=torch.long, device=device),
        "probs": torch.ones(8, device=device),
        "table": torch.ones(8, 4, device=device),
        "qkv": torch.ones(1, 2, 8, 16, device=device),
        "net": net,
        "params": params,
        "batch": batch,
        "target": target,
        "classes": torch.zeros(4, dtype=torch.long, device=device),
        "metrics": {f"m{i}": torch.ones((), device=device) for i in range(24)},
        "scaler": torch.amp.GradScaler(device),
        "sgd": torch.optim.SGD(params, 0.1),
        "adam": torch.optim.Adam(params, foreach=True),
        "adam_single": torch.optim.Adam(params, foreach=False),
        "adam_capturable": torch.optim.Adam(params, capturable=True),
        "adam_fused": torch.optim.Adam(params, fused=True),
        "loader": torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True),
        "event": torch.cuda.Event(),
    }
    names["event"].record()
    return names


# What has to come before a code, each time: the scaler wants its calls in order.
SCALED = "scaler.scale(F.mse_loss(net(batch), target)).backward()\n"
BEFORE = {
    "scaler.unscale_": SCALED,
    "scaler.step(SGD) after unscale_": SCALED + "scaler.unscale_(sgd)",
    "scaler.update()": SCALED + "scaler.unscale_(sgd); scaler.step(sgd)",
}
AFTER = {"scaler.unscale_": "scaler.update()", "scaler.step(SGD) after unscale_": "scaler.update()"}


def run(name, code, file, names):
    exec(compile(BEFORE.get(name, ""), "<before>", "exec"), names)
    exec(compile(code, file, "exec"), names)
    exec(compile(AFTER.get(name, ""), "<after>", "exec"), names)


def main(table):
    names = world()
    for number, (name, code, _) in enumerate(table):
        for file in (f"<first time {number}>", f"<idiom {number}>"):
            run(name, code, file, names)


def warn(table):
    """Prints, as JSON, how often PyTorch's own debug mode warns of a wait in each code."""
    import json
    import warnings

    names = world()
    counts = {}
    names["torch"].cuda.set_sync_debug_mode("warn")
    for name, code, _ in table:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(name, code, "<code>", names)
        counts[name] = sum("synchronizing CUDA operation" in str(warning.message) for warning in caught)
    print(json.dumps(counts))


if __name__ == "__main__":
    import sys

    todo = {"idioms": (main, IDIOMS), "sync-warning": (main, SYNC_WARNING), "warned": (warn, SYNC_WARNING)}
    function, rows = todo[sys.argv[1]]
    function(rows)
