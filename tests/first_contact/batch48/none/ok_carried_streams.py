# expect: pattern = none
"""Stream gauge: eight rivers side by side, their states carried from week to week
(cut at every week), states of rivers that went dry set back."""
import numpy as np
import torch
from torch import nn


class TwoPaceNet(nn.Module):
    """a fast LSTM every day, a slow GRU cell once a week"""

    def __init__(self, n_in=3, fast=12, slow=6):
        super().__init__()
        self.fast = nn.LSTM(n_in + slow, fast, batch_first=True)
        self.slow = nn.GRUCell(fast, slow)
        self.out = nn.Linear(fast, 1)

    def blank(self, rivers):
        return {
            "fast": (torch.zeros(1, rivers, 12), torch.zeros(1, rivers, 12)),
            "slow": torch.zeros(rivers, 6),
        }

    def forward(self, week, state):
        slow = state["slow"].unsqueeze(1).expand(-1, week.shape[1], -1)
        seq, fast = self.fast(torch.cat([week, slow], dim=2), state["fast"])
        return self.out(seq).squeeze(2), {"fast": fast, "slow": self.slow(seq[:, -1], state["slow"])}


def cut(state):
    if isinstance(state, dict):
        return {k: cut(v) for k, v in state.items()}
    if isinstance(state, tuple):
        return tuple(cut(v) for v in state)
    return state.detach()


def dry_out(state, dry):
    h, c = state["fast"]
    h[:, dry] = 0.0
    c[:, dry] = 0.0
    state["slow"][dry] = 0.0
    return state


def gauges(rivers, days, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.5, 1.0, (rivers, days)).astype(np.float32)
    level = np.zeros((rivers, days + 1), dtype=np.float32)
    for d in range(days):
        level[:, d + 1] = 0.85 * level[:, d] + 0.3 * rain[:, d]
    season = np.broadcast_to(np.sin(np.arange(days) / 58.0), (rivers, days)).astype(np.float32)
    x = np.stack([rain, level[:, :-1], season], axis=2)
    return torch.from_numpy(x), torch.from_numpy(level[:, 1:].copy())


def main():
    torch.manual_seed(90)
    x, level = gauges(8, 140, seed=91)
    net = TwoPaceNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for year in range(3):
        state = net.blank(8)
        seen = 0.0
        for d in range(0, 140, 7):
            state = cut(state)
            state = dry_out(state, level[:, d] < 0.05)
            guess, state = net(x[:, d:d + 7], state)
            cost = (guess - level[:, d:d + 7]).square().mean()
            opt.zero_grad()
            cost.backward()
            opt.step()
            seen += cost.detach()
        print(f"pass {year}: {seen.item() / 20:.4f}")


if __name__ == "__main__":
    main()
