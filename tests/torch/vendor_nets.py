# SPDX-License-Identifier: Apache-2.0
"""Two trainers whose work is cuDNN's: a small residual convolution net, and an LSTM. Five steps, one readback each.

    vendor_nets.py residual|lstm
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

STEPS = 5


class Block(nn.Module):
    """conv, norm, relu, conv, norm, plus the input through a 1x1 convolution."""

    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(n_out)
        self.short = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.short(x))


class Last(nn.Module):
    """A recurrent net's last output, classified."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def residual():
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
    stem = [nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, Block(16, 16, 1), Block(16, 32, 2), *head), (4, 3, 32, 32)


def recurrent():
    return Last(), (4, 7, 8)


def main(kind):
    net, shape = {"residual": residual, "lstm": recurrent}[kind]()
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    for _ in range(STEPS):
        x = torch.randn(shape, device="cuda")
        target = torch.zeros(shape[0], dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        print(loss.item())
    net.eval()
    with torch.no_grad():
        net(x)


if __name__ == "__main__":
    main(sys.argv[1])
