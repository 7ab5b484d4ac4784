"""Deep mutual learning: three small nets of different build grade apples and learn from each other.

No teacher; every net gets the labels and, as soft targets, what its peers say about the same batch.
"""
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


class Bottleneck(nn.Module):
    def __init__(self, n_in, width, n_out):
        super().__init__()
        self.down = nn.Linear(n_in, width)
        self.up = nn.Linear(width, n_in)
        self.out = nn.Linear(n_in, n_out)

    def forward(self, x):
        return self.out(x + self.up(F.gelu(self.down(x))))


@dataclass
class Peer:
    name: str
    net: nn.Module
    lr: float
    right: int = 0
    seen: int = 0
    history: list = field(default_factory=list)

    def __post_init__(self):
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=self.lr)

    def count(self, logits, y):
        self.right += int((logits.argmax(1) == y).sum())
        self.seen += len(y)


class Cohort:
    def __init__(self, *peers, temperature=2.0, weight=0.7):
        self.peers = peers
        self.t, self.weight = temperature, weight

    def agree(self, mine, other):
        kl = F.kl_div(F.log_softmax(mine / self.t, 1), F.softmax(other / self.t, 1), reduction="batchmean")
        return kl * self.t ** 2

    def lessons(self, x, y):
        """One (peer, loss) after the other."""
        logits = [peer.net(x) for peer in self.peers]
        for i, peer in enumerate(self.peers):
            others = [l for j, l in enumerate(logits) if j != i]
            soft = sum(self.agree(logits[i], other) for other in others) / len(others)
            peer.count(logits[i], y)
            yield peer, F.cross_entropy(logits[i], y) + self.weight * soft

    def school_day(self, x, y):
        for peer, loss in self.lessons(x, y):
            peer.opt.zero_grad()
            loss.backward(retain_graph=True)
            peer.opt.step()
            peer.history.append(loss.item())

    def report(self):
        for peer in self.peers:
            print(f"  {peer.name:<10} loss {sum(peer.history[-8:]) / 8:.3f}  right {peer.right / peer.seen:.2f}")
            peer.right = peer.seen = 0


def apples(n, grades):
    y = torch.randint(len(grades), (n,))
    return grades[y] + 0.8 * torch.randn(n, grades.size(1)), y


torch.manual_seed(77)
grades = torch.randn(4, 12)
cohort = Cohort(
    Peer("wide", nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4)), lr=3e-3),
    Peer("deep", nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 4)), lr=3e-3),
    Peer("residual", Bottleneck(12, 6, 4), lr=2e-3),
)
for season in range(3):
    for _ in range(8):
        cohort.school_day(*apples(32, grades))
    print("season", season)
    cohort.report()
