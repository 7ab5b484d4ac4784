


"""Federated training in one process: the server learns how much to trust each hospital.

Each round the clients train locally; the server tunes the mixing weights on a small proxy set.
"""
import copy
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


def make_model():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))


@dataclass
class Hospital:
    name: str
    x: torch.Tensor
    y: torch.Tensor
    local_steps: int = 5

    def train(self, broadcast):
        model = copy.deepcopy(broadcast)
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(self.local_steps):
            opt.zero_grad()
            F.cross_entropy(model(self.x), self.y).backward()
            opt.step()
        return {k: v.detach().clone() for k, v in model.state_dict().items()}


@dataclass
class Coordinator:
    model: nn.Module
    proxy: tuple
    logits: torch.Tensor
    tune_steps: int = 6
    report: list = field(default_factory=list)

    def __post_init__(self):
        self.opt = torch.optim.Adam([self.logits], lr=0.1)

    def blend(self, updates):
        trust = self.logits.softmax(0)
        return {k: sum(w * u[k] for w, u in zip(trust, updates)) for k in updates[0]}

    def aggregate(self, updates):
        x, y = self.proxy
        for _ in range(self.tune_steps):
            mixed = self.blend(updates)
            for name, p in self.model.named_parameters():
                p.data = mixed[name]
            loss = F.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        self.model.load_state_dict(self.blend(updates))
        self.report.append((loss.item(), self.logits.softmax(0).tolist()))


def patients(n, flip=0.0):
    x = torch.randn(n, 6)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
    wrong = torch.rand(n) < flip
    return x, torch.where(wrong, 1 - y, y)


def main(rounds=4):
    torch.manual_seed(40)
    hospitals = [
        Hospital("north", *patients(60)),
        Hospital("south", *patients(60, flip=0.1)),
        Hospital("coast", *patients(60, flip=0.9)),  # known to have coding problems
    ]
    logits = torch.zeros(len(hospitals), requires_grad=True)
    server = Coordinator(make_model(), patients(80), logits)
    for r in range(rounds):
        server.aggregate([h.train(server.model) for h in hospitals])
        loss, trust = server.report[-1]
        shares = " ".join(f"{h.name}={t:.2f}" for h, t in zip(hospitals, trust))
        print(f"round {r}: proxy loss {loss:.3f}  {shares}")


if __name__ == "__main__":
    main()
