"""One encoder called twice on the same input under dropout, a backward for each call."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, d=8, k=5):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 32), nn.GELU(), nn.Dropout(0.2), nn.Linear(32, k))

    def forward(self, x):
        return self.net(x)


def symmetric_kl(p, q):
    p, q = p.log_softmax(-1), q.log_softmax(-1)
    return 0.5 * (F.kl_div(p, q, log_target=True, reduction="batchmean")
                  + F.kl_div(q, p, log_target=True, reduction="batchmean"))


def accuracy(model, x, y):
    was = model.training
    model.eval()
    with torch.no_grad():
        hit = (model(x).argmax(1) == y).float().mean().item()
    model.train(was)
    return hit


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--consistency", type=float, default=0.3)
    p.add_argument("--lr", type=float, default=4e-3)
    return p.parse_args([])


def main():
    args = parse()
    torch.manual_seed(9)
    model = Encoder()
    opt = torch.optim.RAdam(model.parameters(), lr=args.lr)
    w = torch.randn(8, 5)
    for step in range(args.steps):
        x = torch.randn(32, 8)
        y = (x @ w).argmax(1)
        opt.zero_grad()

        for _ in range(2):
            F.cross_entropy(model(x), y).div(2).backward()

        agreement = args.consistency * symmetric_kl(model(x), model(x))
        agreement.backward()
        opt.step()
        if step % 3 == 0:
            print(step, "agreement %.4f accuracy %.3f" % (agreement.item(), accuracy(model, x, y)))


if __name__ == "__main__":
    main()
