# expect: raises = nothing
"""Slack in the chains of six escalators, from the passing of their steps: one endless stream."""
from typing import NamedTuple

import torch
from torch import nn


class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor

    def cut(self):
        return State(*(part.detach() for part in self))


class ChainListener(nn.Module):
    def __init__(self, n_in=2, hidden=16, lifts=6):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden, batch_first=True)
        self.start = nn.Parameter(torch.zeros(2, hidden))
        self.head = nn.Linear(hidden, 1)
        self.lifts, self.state = lifts, None

    def restart(self):
        self.state = None

    def forward(self, x):
        if self.state is None:
            h, c = (s.expand(1, self.lifts, -1).contiguous() for s in self.start)
            state = State(h, c)
        else:
            state = self.state.cut()
        out, state = self.lstm(x, tuple(state))
        self.state = State(*state)
        return self.head(out).squeeze(-1)


def ride(lifts, steps, gen):
    """Pull and timing of each step; the chain is slack when the pull has been low for some steps."""
    pull = torch.randn(lifts, steps, generator=gen)
    slack = torch.zeros(lifts, steps)
    for t in range(1, steps):
        slack[:, t] = 0.8 * slack[:, t - 1] + (pull[:, t] < -0.5).float()
    timing = 0.1 * slack + 0.2 * torch.randn(lifts, steps, generator=gen)
    return torch.stack([pull, timing], -1), (slack > 1.6).float()


class Smoothed:
    def __init__(self, keep=0.9):
        self.keep, self.value = keep, None

    def __call__(self, new):
        self.value = new if self.value is None else self.keep * self.value + (1 - self.keep) * new
        return self.value


def main(window=20, epochs=4):
    torch.manual_seed(65)
    gen = torch.Generator().manual_seed(65)
    x, y = ride(6, 240, gen)
    net = ChainListener()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    shown = Smoothed()
    worst = []
    for epoch in range(epochs):
        net.restart()
        for k in range(0, x.shape[1], window):
            each = nn.functional.binary_cross_entropy_with_logits(
                net(x[:, k:k + window]), y[:, k:k + window], reduction="none")
            loss = each.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            shown(loss.detach())
            worst.append((each.detach().mean(1).max().item(), epoch, k))
        print(f"epoch {epoch}: smoothed {shown.value.item():.3f}, worst stretch so far {max(worst)[1:]}")


if __name__ == "__main__":
    main()
