# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = gate, self.gate, router, self.router, scores, choice, dispatch
"""Retail demand forecasting from store/product features with a top-1 mixture of experts."""
import argparse
import math

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class SalesDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.store = rng.randint(0, 12, n)
        self.weekday = rng.randint(0, 7, n)
        self.numeric = rng.randn(n, 6).astype("float32")
        kind = self.store % 3
        base = np.where(kind == 0, 2.0 * self.numeric[:, 0],
               np.where(kind == 1, -self.numeric[:, 1] + self.numeric[:, 2] ** 2,
                        np.sin(2 * self.numeric[:, 3])))
        season = 0.4 * np.cos(2 * math.pi * self.weekday / 7)
        self.y = (base + season + 0.1 * rng.randn(n)).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.store[i], self.weekday[i], self.numeric[i], self.y[i]


class Expert(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, d_hidden), nn.GELU(), nn.Linear(d_hidden, 1))

    def forward(self, x):
        return self.net(x)


class TopOneRouter(nn.Module):
    def __init__(self, d_in, n_experts):
        super().__init__()
        self.gate = nn.Linear(d_in, n_experts)
        self.n_experts = n_experts
        self.register_buffer("load", torch.zeros(n_experts))

    def forward(self, x):
        scores = self.gate(x)  # expect: place
        choice = scores.argmax(dim=-1)  # expect: place
        dispatch = nn.functional.one_hot(choice, self.n_experts).float()  # expect: place
        if self.training:
            self.load.mul_(0.9).add_(0.1 * dispatch.mean(0).detach())
        return dispatch


class MoEForecaster(nn.Module):
    def __init__(self, n_experts=3, d_hidden=24):
        super().__init__()
        self.store_emb = nn.Embedding(12, 4)
        self.day_emb = nn.Embedding(7, 3)
        d_in = 4 + 3 + 6
        self.norm = nn.LayerNorm(d_in)
        self.router = TopOneRouter(d_in, n_experts)
        self.experts = nn.ModuleList(Expert(d_in, d_hidden) for _ in range(n_experts))

    def forward(self, store, weekday, numeric):
        x = torch.cat([self.store_emb(store), self.day_emb(weekday), numeric], dim=-1)
        x = self.norm(x)
        dispatch = self.router(x)
        answers = torch.cat([expert(x) for expert in self.experts], dim=-1)
        return (dispatch * answers).sum(dim=-1)  # expect: place


def run(model, loader, loss_fn, optimizer=None, clip=1.0):
    train = optimizer is not None
    model.train(train)
    total, n = 0.0, 0
    with torch.set_grad_enabled(train):
        for store, weekday, numeric, y in loader:
            pred = model(store, weekday, numeric)
            loss = loss_fn(pred, y)
            if train:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), clip)
                optimizer.step()
            total += loss.item() * len(y)
            n += len(y)
    return total / n


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--experts", type=int, default=3)
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--bs", type=int, default=64)
    p.add_argument("--seed", type=int, default=31)
    opt = p.parse_args(argv)

    torch.manual_seed(opt.seed)
    train_loader = DataLoader(SalesDataset(512, opt.seed), batch_size=opt.bs, shuffle=True)
    valid_loader = DataLoader(SalesDataset(128, opt.seed + 1), batch_size=128)
    model = MoEForecaster(opt.experts, opt.hidden)
    optimizer = optim.Adam(model.parameters(), lr=opt.lr)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.8)
    loss_fn = nn.HuberLoss()
    for epoch in range(1, opt.epochs + 1):
        tr = run(model, train_loader, loss_fn, optimizer)
        va = run(model, valid_loader, loss_fn)
        scheduler.step()
        load = ", ".join("%.2f" % v for v in model.router.load)
        print("epoch %d  train %.4f  valid %.4f  expert load [%s]" % (epoch, tr, va, load))


if __name__ == "__main__":
    main()
