# tide gauge forecaster: stacked LSTM over one long record, cut in windows, several windows per update
import argparse

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument('--window', type=int, default=16)
parser.add_argument('--every', type=int, default=3, help='windows per optimizer step')
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--harbours', type=int, default=10)
parser.add_argument('--lr', type=float, default=5e-3)
args = parser.parse_args()

torch.manual_seed(64)
rng = np.random.RandomState(64)


def record(harbours, hours):
    t = np.arange(hours)[:, None]
    level = np.zeros((hours, harbours))
    for period, size in ((12.42, 1.0), (12.0, 0.4), (25.82, 0.25)):
        level += size * np.sin(2 * np.pi * t / period + rng.uniform(0, 6.28, harbours))
    surge = np.cumsum(0.02 * rng.randn(hours, harbours), axis=0)
    return torch.tensor(level + surge, dtype=torch.float32).unsqueeze(-1)


class TideNet(nn.Module):
    def __init__(self, hidden=20, layers=2):
        super().__init__()
        self.layers, self.hidden = layers, hidden
        self.rnn = nn.LSTM(1, hidden, layers)
        self.out = nn.Linear(hidden, 1)
        self.h0 = nn.Parameter(torch.zeros(layers, 1, hidden))
        self.c0 = nn.Parameter(torch.zeros(layers, 1, hidden))

    def begin(self, n):
        return (self.h0.expand(-1, n, -1).contiguous(), self.c0.expand(-1, n, -1).contiguous())

    def forward(self, x, state):
        y, state = self.rnn(x, state)
        return x + self.out(y), state


def cut(state):
    return tuple(s.detach() for s in state)


data = record(args.harbours, 10 * args.window + 1)
net = TideNet()
opt = torch.optim.RMSprop(net.parameters(), lr=args.lr)
criterion = nn.MSELoss()
curve = []

for epoch in range(args.epochs):
    state = net.begin(args.harbours)
    starts = list(range(0, len(data) - 1, args.window))
    losses = []
    opt.zero_grad()
    for k, lo in enumerate(starts):
        x = data[lo:lo + args.window]
        y = data[lo + 1:lo + args.window + 1]
        group = min(args.every, len(starts) - k // args.every * args.every)
        pred, state = net(x, state)
        loss = criterion(pred, y) / group
        loss.backward()
        state = cut(state)
        losses.append(loss.item() * group)
        if (k + 1) % args.every == 0 or k + 1 == len(starts):
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    curve.append(sum(losses) / len(losses))
    print('epoch %d: %.5f' % (epoch + 1, curve[-1]))

with torch.no_grad():
    net.eval()
    state = net.begin(args.harbours)
    pred, state = net(data[:-1], state)
    last = pred[-1:]
    ahead = []
    for _ in range(6):
        last, state = net(last, state)
        ahead.append(round(last[0, 0].item(), 3))
print('next hours, first harbour:', ahead)
