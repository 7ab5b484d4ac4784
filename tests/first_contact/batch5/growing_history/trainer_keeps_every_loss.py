# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = history, self.history, loss, logs
"""A tiny fit() with logs, learning-rate schedule and early stop, for bakery sales."""
import math

import torch
import torch.nn as nn


class Fitter:
    def __init__(self, net, lr, patience=3):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.opt, 2, 0.8)
        self.history = {"step": [], "epoch": []}
        self.patience = patience

    def one_step(self, x, y):
        self.opt.zero_grad()
        loss = (self.net(x) - y).abs().mean()
        loss.backward()
        self.opt.step()
        self.history["step"].append(loss)  # expect: place
        return loss

    def fit(self, data, epochs):
        best, waited = math.inf, 0
        for _ in range(epochs):
            for x, y in data:
                self.one_step(x, y)
            mean = torch.stack(self.history["step"][-len(data):]).mean()
            self.history["epoch"].append(mean)  # expect: place
            self.schedule.step()
            if mean.item() < best - 1e-4:
                best, waited = mean.item(), 0
            else:
                waited += 1
            if waited >= self.patience:
                break
        return self.history


def days(n):
    out = []
    for _ in range(n):
        x = torch.cat([torch.eye(7)[torch.randint(7, (14,))], torch.randn(14, 2)], 1)
        out.append((x, (x[:, 5:7].sum(1, keepdim=True) * 30 + 5 * x[:, 7:8] + 40)))
    return out


if __name__ == "__main__":
    torch.manual_seed(81)
    fitter = Fitter(nn.Sequential(nn.Linear(9, 12), nn.ReLU(), nn.Linear(12, 1)), lr=0.05)
    history = fitter.fit(days(8), 5)
    print([round(float(v), 3) for v in history["epoch"]])
