# A module that logs what it is given, and a trainer that prints the mean once an epoch.
from collections import defaultdict

import torch
from torch import nn


class Logged(nn.Module):
    def __init__(self):
        super().__init__()
        self.logged = defaultdict(list)

    def log(self, name, value):
        self.logged[name].append(value.item())

    def summary(self):
        return {name: float(sum(v) / len(v)) for name, v in self.logged.items()}


class Denoiser(Logged):
    def __init__(self, dim=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, 32), nn.SiLU(), nn.Linear(32, dim))
        self.register_buffer("alphas", torch.linspace(0.99, 0.4, 10))

    def training_step(self, x):
        t = torch.randint(0, 10, (len(x), 1))
        noise = torch.randn_like(x)
        a = self.alphas[t]
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
        loss = (self.net(torch.cat([noisy, t / 10], dim=1)) - noise).pow(2).mean()
        self.log("loss", loss)
        return loss


torch.manual_seed(0)
model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = torch.randn(64, 6) @ torch.randn(6, 6)
for epoch in range(3):
    for x in data[torch.randperm(64)].split(16):
        loss = model.training_step(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, model.summary())
