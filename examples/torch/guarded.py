# SPDX-License-Identifier: Apache-2.0
"""A classifier whose control flow depends on values that live on the device.

It stops when the loss explodes, trains on the examples it still gets wrong, and counts the classes it
has met. Each of these reads a number back from the device, so each makes the host wait.
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 8
FEATURES = 16


def make_data(n_examples, device):
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    labels = torch.randint(0, CLASSES, (n_examples,), generator=generator)
    features = centres[labels] + torch.randn(n_examples, FEATURES, generator=generator)
    return features.to(device), labels.to(device)


def train(steps, batch_size, device):
    torch.manual_seed(0)
    features, labels = make_data(4096, device)
    model = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, CLASSES)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    for step in range(steps):
        rows = torch.randint(0, features.shape[0], (batch_size,), device=device)
        x, y = features[rows], labels[rows]
        logits = model(x)
        example_loss = F.cross_entropy(logits, y, reduction="none")

        wrong = logits.argmax(-1) != y
        loss = example_loss.mean() + torch.masked_select(example_loss, wrong).sum() / batch_size
        if loss > 1e9:
            raise RuntimeError(f"the loss exploded in step {step}")

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

        hard = x[wrong]
        met = torch.unique(y)
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {loss.item():.4f}  wrong {len(hard)}  classes met {len(met)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    train(args.steps, args.batch_size, torch.device(args.device))


if __name__ == "__main__":
    main()
