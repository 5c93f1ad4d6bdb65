# SPDX-License-Identifier: Apache-2.0
"""Small trainers of the usual kinds, 60 steps each: python trainers.py NAME [STEPS]

Each step reads the loss once, so a step has exactly one logical sync, unless the kind of training adds its own.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda"


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm_first = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm_second = nn.BatchNorm2d(width)

    def forward(self, x):
        y = F.relu(self.norm_first(self.first(x)))
        return F.relu(x + self.norm_second(self.second(y)))


class Recurrent(nn.Module):
    def __init__(self, vocabulary=32, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def convolution():
    """A residual network with batch norm, trained with SGD."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        Residual(16),
        nn.MaxPool2d(2),
        Residual(16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    ).to(DEVICE)
    images = torch.randn(8, 3, 32, 32).to(DEVICE)
    labels = torch.randint(0, 10, (8,)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    def step():
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def recurrent():
    """An LSTM language model, clipped, trained with Adam."""
    torch.manual_seed(0)
    model = Recurrent().to(DEVICE)
    tokens = torch.randint(0, 32, (4, 20)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


def mixed_precision():
    """fp16 with a GradScaler: its step() reads whether there was an infinity, a second sync."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)).to(DEVICE)
    x, y = torch.randn(16, 32).to(DEVICE), torch.randint(0, 8, (16,)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler(DEVICE)

    def step():
        with torch.autocast(DEVICE, torch.float16):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.item()

    return step


TRAINERS = {"convolution": convolution, "recurrent": recurrent, "mixed-precision": mixed_precision}


def main():
    step = TRAINERS[sys.argv[1]]()
    losses = [step() for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 60)]
    print(len(losses), losses[-1])


if __name__ == "__main__":
    main()
