"""Affine coupling flow with its own `fit`, in the manner of scikit-learn."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AffineCoupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.half, self.flip = dim // 2, flip
        self.net = nn.Sequential(nn.Linear(self.half, 16), nn.Tanh(), nn.Linear(16, 2 * (dim - self.half)))

    def forward(self, x):
        if self.flip:
            x = x.flip(-1)
        a, b = x[..., : self.half], x[..., self.half :]
        log_scale, shift = self.net(a).chunk(2, dim=-1)
        log_scale = 0.5 * torch.tanh(log_scale)
        return torch.cat([a, b * log_scale.exp() + shift], dim=-1), log_scale.sum(-1)


class Flow(nn.Module):
    def __init__(self, dim, n_layers=4):
        super().__init__()
        self.layers = nn.ModuleList(AffineCoupling(dim, flip=k % 2 == 1) for k in range(n_layers))
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("scale", torch.ones(dim))

    def log_prob(self, x):
        z = (x - self.loc) / self.scale
        log_det = -self.scale.log().sum()
        for layer in self.layers:
            z, ld = layer(z)
            log_det = log_det + ld
        base = -0.5 * (z ** 2 + math.log(2 * math.pi)).sum(-1)
        return base + log_det

    def fit(self, x_train, n_epochs=5, lr=5e-3, batch_size=64):
        self.loc.copy_(x_train.detach().mean(0))
        self.scale.copy_(x_train.detach().std(0))
        loader = DataLoader(TensorDataset(x_train), batch_size=batch_size, shuffle=True)
        optimizer = torch.optim.AdamW(self.parameters(), lr=lr)
        for epoch in range(n_epochs):
            for (batch,) in loader:
                optimizer.zero_grad()
                train_loss = -self.log_prob(batch).mean() / batch.shape[-1]
                train_loss.backward()  # expect: place
                optimizer.step()
            print(f"  flow epoch {epoch}: {train_loss.item():.4f}")
        return self
