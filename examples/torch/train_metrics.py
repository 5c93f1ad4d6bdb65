# SPDX-License-Identifier: Apache-2.0
"""A small transformer that learns to continue number sequences, and logs 24 metrics every step.

Written as such trainers usually are. Three lines of the training step make the host wait for the
device: each of the 24 metric readbacks, the loss weight made on the host, and the selection of the
tokens that count. Find them with

    synctally run -- python examples/torch/train_metrics.py
"""

import argparse
import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCABULARY = 64
PADDING = 0
LENGTH = 32


def make_dataset(n_sequences, generator):
    """Arithmetic sequences modulo the vocabulary, of random start, stride and length."""
    start = torch.randint(1, VOCABULARY, (n_sequences, 1), generator=generator)
    stride = torch.randint(1, 8, (n_sequences, 1), generator=generator)
    length = torch.randint(LENGTH // 2, LENGTH + 2, (n_sequences, 1), generator=generator)
    position = torch.arange(LENGTH + 1)
    tokens = (start + stride * position) % (VOCABULARY - 1) + 1
    tokens = tokens.masked_fill(position >= length, PADDING)
    return TensorDataset(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm_mlp(x))


class Transformer(nn.Module):
    def __init__(self, width=64, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(0.02 * torch.randn(LENGTH, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        hidden = self.norm(x)
        return self.head(hidden), hidden


def z_loss_weight(step):
    """The penalty on large logits is phased in."""
    return 1e-3 * min(1.0, step / 20)


def grad_norm(module):
    return nn.utils.get_total_norm([p.grad for p in module.parameters()])


@torch.no_grad()
def compute_metrics(model, logits, hidden, targets, token_loss, loss, z_loss, total_norm):
    """24 scalars, all still on the device."""
    log_p = logits.log_softmax(-1)
    top = logits.topk(5, dim=-1)
    hits = top.indices == targets.unsqueeze(-1)
    return {
        "loss": loss,
        "perplexity": loss.exp(),
        "z_loss": z_loss,
        "accuracy": hits[..., 0].float().mean(),
        "accuracy_top5": hits.any(-1).float().mean(),
        "confidence": log_p.amax(-1).exp().mean(),
        "margin": (top.values[..., 0] - top.values[..., 1]).mean(),
        "entropy": -(log_p.exp() * log_p).sum(-1).mean(),
        "token_loss_min": token_loss.min(),
        "token_loss_max": token_loss.max(),
        "token_loss_std": token_loss.std(),
        "loss_first_half": token_loss[:, : LENGTH // 2].mean(),
        "loss_second_half": token_loss[:, LENGTH // 2 :].mean(),
        "logit_mean": logits.mean(),
        "logit_std": logits.std(),
        "logit_min": logits.min(),
        "logit_max": logits.max(),
        "hidden_norm": hidden.norm(dim=-1).mean(),
        "parameter_norm": nn.utils.get_total_norm(model.parameters()),
        "grad_norm": total_norm,
        "grad_norm_tokens": grad_norm(model.tokens),
        "grad_norm_block0": grad_norm(model.blocks[0]),
        "grad_norm_block1": grad_norm(model.blocks[1]),
        "grad_norm_head": grad_norm(model.head),
    }


def train(steps, batch_size, num_workers, device):
    torch.manual_seed(0)
    dataset = make_dataset(1024, torch.Generator().manual_seed(1))
    loader = DataLoader(
        dataset, batch_size, shuffle=True, drop_last=True, num_workers=num_workers, pin_memory=device.type == "cuda"
    )
    batches = itertools.chain.from_iterable(itertools.repeat(loader))

    model = Transformer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 10) * 0.5 * (1 + math.cos(math.pi * step / max(1, steps)))
    )

    for step, (tokens, targets) in enumerate(itertools.islice(batches, steps)):
        tokens = tokens.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        weight = torch.tensor(z_loss_weight(step), device=device)

        logits, hidden = model(tokens)
        token_loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)
        z_loss = weight * logits.logsumexp(-1).square().mean()
        loss = torch.masked_select(token_loss, targets != PADDING).mean() + z_loss

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        total_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()

        metrics = compute_metrics(model, logits, hidden, targets, token_loss, loss, z_loss, total_norm)
        values = {name: value.item() for name, value in metrics.items()}
        if step % 10 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {values['loss']:.4f}  accuracy {values['accuracy']:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    train(args.steps, args.batch_size, args.num_workers, torch.device(args.device))


if __name__ == "__main__":
    main()
