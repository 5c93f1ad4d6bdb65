# SPDX-License-Identifier: Apache-2.0
"""A small GPT trained for 60 steps with CUDA graphs: python graph_trainers.py whole|callables

whole: forward, backward and optimizer are one graph, replayed for each step.
callables: the model is a graphed callable; the optimizer runs as usual.

The loss is read every tenth step. Batches come from pinned memory. What it
prints are the losses it read.
"""

import ctypes
import sys

import torch
import torch.nn.functional as F
from torch import nn

STEPS, EVERY = 60, 10
VOCABULARY, LENGTH, BATCH, WIDTH, HEADS = 64, 16, 4, 32, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_first, self.norm_second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attend, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.attend(self.norm_first(x)).chunk(3, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).flatten(2))
        return x + self.mix(self.norm_second(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY))
        self.register_buffer("order", torch.arange(LENGTH))

    def forward(self, tokens):
        return self.blocks(self.tokens(tokens) + self.places(self.order))


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def whole(model, x, y):
    """The recipe of PyTorch's documentation: warm up beside the default stream, then capture one step."""
    optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            loss_of(model(x), y).backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()

    def step():
        graph.replay()
        return loss

    return step


def callables(model, x, y):
    optimizer = torch.optim.AdamW(model.parameters())
    model = torch.cuda.make_graphed_callables(model, (x.clone(),))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def main(kind):
    end_step = ctypes.CDLL(None).synctally_step
    torch.manual_seed(0)
    model = Gpt().cuda()
    tokens = torch.randint(0, VOCABULARY, (STEPS, BATCH, LENGTH + 1))
    # A slice that is not contiguous would go through pageable memory.
    batches = zip(tokens[:, :, :-1].contiguous().pin_memory(), tokens[:, :, 1:].contiguous().pin_memory(), strict=True)
    x, y = (torch.zeros(BATCH, LENGTH, dtype=torch.long, device="cuda") for _ in range(2))
    step = {"whole": whole, "callables": callables}[kind](model, x, y)
    losses = []
    end_step()
    for n, (inputs, targets) in enumerate(batches, 1):
        x.copy_(inputs, non_blocking=True)
        y.copy_(targets, non_blocking=True)
        loss = step()
        if n % EVERY == 0:
            losses.append(loss.item())
        end_step()
    print(*losses)


if __name__ == "__main__":
    main(sys.argv[1])
