import torch
import torch.nn as nn
from dataclasses import dataclass, field
from typing import Dict, Optional

@dataclass
class Stream:
    name: str
    hidden: Optional[torch.Tensor] = None
    history: list = field(default_factory=list)

class Trainer:
    def __init__(self, names):
        self.rnn = nn.GRU(2, 4)
        self.head = nn.Linear(4, 1)
        self.streams: Dict[str, Stream] = {n: Stream(n) for n in names}
        self.opt = torch.optim.SGD([*self.rnn.parameters(), *self.head.parameters()], lr=0.1)

    def run_one(self, stream, x):
        y, h = self.rnn(x, stream.hidden)
        stream.hidden = h
        return self.head(y).mean()

    def fit(self, steps):
        for step in range(steps):
            losses = [self.run_one(s, torch.randn(3, 1, 2)) for s in self.streams.values()]
            loss = torch.stack(losses).pow(2).sum()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            for s in self.streams.values():
                s.history.append(loss.item())

torch.manual_seed(0)
Trainer(["a", "b"]).fit(4)
