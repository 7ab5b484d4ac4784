import argparse
from dataclasses import dataclass, field
import torch
import torch.nn as nn


@dataclass
class Slot:
    h: torch.Tensor
    c: torch.Tensor
    age: int = 0


@dataclass
class Board:
    slots: dict = field(default_factory=dict)

    def get(self, key, size):
        if key not in self.slots:
            self.slots[key] = Slot(torch.zeros(1, size), torch.zeros(1, size))
        return self.slots[key]


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell = nn.LSTMCell(4, size)
        self.out = nn.Linear(size, 1)
        self.size = size

    def step(self, board, key, x):
        slot = board.get(key, self.size)
        h, c = self.cell(x, (slot.h, slot.c))
        board.slots[key] = Slot(h.detach(), c.detach(), slot.age + 1)
        return self.out(h)


def run(args):
    torch.manual_seed(args.seed)
    net, board = Net(args.size), Board()
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for it in range(args.iters):
        preds, ys = [], []
        for key in ("AAPL", "MSFT", "NVDA"):
            x = torch.randn(1, 4)
            preds.append(net.step(board, key, x))
            ys.append(x.sum(1, keepdim=True))
        loss = nn.functional.l1_loss(torch.cat(preds), torch.cat(ys))
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=8)
    p.add_argument("--iters", type=int, default=5)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=0)
    run(p.parse_args())
