# expect: pattern = retain-graph-leak
# expect: also = recurrent-state
# expect: raises = nothing
# expect: carrier = state
import argparse

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--window", type=int, default=5)
ap.add_argument("--accumulate", type=int, default=4)
args = ap.parse_args([])


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 12, batch_first=True)
        self.proj = nn.Linear(12, 1)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.proj(y), state


torch.manual_seed(2)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
prices = torch.randn(3, 200, 1).cumsum(1) / 10

for epoch in range(2):
    state = None
    opt.zero_grad()
    for k in range(args.accumulate * 2):
        lo = k * args.window
        x = prices[:, lo:lo + args.window]
        y = prices[:, lo + 1:lo + args.window + 1]
        pred, state = model(x, state)  # expect: place
        loss = (pred - y).pow(2).mean() / args.accumulate
        loss.backward(retain_graph=True)  # expect: place
    opt.step()
    print(epoch, loss.item() * args.accumulate)
