"""Time to relapse in a multi-centre study: neural Cox model with a frailty for each centre.

Partial likelihood (Breslow ties) inside each batch; the frailty term is shrunk to zero.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CENTRES = 7


def cohort(n=350, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    centre = rng.integers(CENTRES, size=n)
    effect = rng.normal(0, 0.9, size=CENTRES)
    log_risk = 0.9 * x[:, 0] + 0.5 * np.sin(2 * x[:, 1]) + effect[centre]
    t = rng.exponential(1 / (0.1 * np.exp(log_risk)))
    c = rng.exponential(12.0, size=n)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(centre),
                         torch.tensor(np.minimum(t, c), dtype=torch.float32),
                         torch.tensor(t <= c)), effect


def cox_loss(score, time, event):
    order = torch.argsort(time, descending=True)
    score, event = score[order], event[order]
    log_at_risk = torch.logcumsumexp(score, dim=0)
    return (log_at_risk - score)[event].mean()


def concordance(score, time, event):
    earlier = (time[:, None] < time[None, :]) & event[:, None]
    agree = (score[:, None] > score[None, :]) & earlier
    return (agree.sum() / earlier.sum()).item()


class FrailtyCox(nn.Module):
    def __init__(self, features, centres, hidden=16, drop=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, hidden), nn.SiLU(), nn.Dropout(drop),
                                 nn.Linear(hidden, 1, bias=False))
        self.frailty = nn.Embedding(centres, 1)
        nn.init.normal_(self.frailty.weight, std=0.05)

    def centred_frailty(self):
        """The likelihood only knows differences: keep the mean of the effects at zero."""
        w = self.frailty.weight.clone().detach().requires_grad_(True)
        return (w - w.mean()).squeeze(1)

    def forward(self, x, centre):
        site = self.centred_frailty()[centre]
        return self.net(x).squeeze(1) + site

    def shrinkage(self):
        return self.frailty.weight.square().mean()


def fit(data, epochs=10, weight=0.02):
    model = FrailtyCox(5, CENTRES)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    loader = DataLoader(data, batch_size=70, shuffle=True)
    for epoch in range(epochs):
        model.train()
        pl = []
        for x, centre, time, event in loader:
            loss = cox_loss(model(x, centre), time, event) + weight * model.shrinkage()
            opt.zero_grad()
            loss.backward()
            opt.step()
            pl.append(loss.item())
        model.eval()
        with torch.no_grad():
            x, centre, time, event = data.tensors
            c = concordance(model(x, centre), time, event)
        print(f"{epoch:2d}  -pl {np.mean(pl):.4f}  c-index {c:.3f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(8)
    data, effect = cohort()
    model = fit(data)
    print("centre effects", [round(v, 2) for v in model.centred_frailty().tolist()])
    print("true effects  ", np.round(effect - effect.mean(), 2).tolist())
