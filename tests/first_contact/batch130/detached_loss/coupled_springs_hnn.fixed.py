"""Learns the Hamiltonian of two coupled masses from noisy phase-space velocities."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=8e-3)
    p.add_argument("--noise", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args([])


def true_field(z, k=1.0, coupling=0.4):
    q, p = z[:, :2], z[:, 2:]
    pull = -k * q - coupling * (q - q[:, ::-1])
    return np.concatenate([p, pull], axis=1)


def build_dataset(n, noise, seed):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1.5, 1.5, size=(n, 4))
    dz = true_field(z) + noise * rng.standard_normal((n, 4))
    return TensorDataset(torch.tensor(z).float(), torch.tensor(dz).float())


class HamiltonianNet(nn.Module):
    def __init__(self, dof, hidden):
        super().__init__()
        self.energy = nn.Sequential(
            nn.Linear(2 * dof, hidden), nn.Softplus(), nn.Linear(hidden, hidden), nn.Softplus(),
            nn.Linear(hidden, 1),
        )
        eye, zero = torch.eye(dof), torch.zeros(dof, dof)
        self.register_buffer("J", torch.cat([torch.cat([zero, eye], 1), torch.cat([-eye, zero], 1)]))

    def forward(self, z):
        with torch.enable_grad():
            z = z.detach().requires_grad_(True)
            H = self.energy(z).sum()
            (dH,) = torch.autograd.grad(H, z, create_graph=True)
        return dH @ self.J.T

    @torch.no_grad()
    def rollout(self, z, dt, steps):
        path = [z]
        for _ in range(steps):
            half = z + 0.5 * dt * self(z)
            z = z + dt * self(half)
            path.append(z)
        return torch.stack(path)


def energy_drift(model, z0):
    path = model.rollout(z0, dt=0.05, steps=20)
    with torch.no_grad():
        H = model.energy(path).squeeze(-1)
    return (H - H[0]).abs().max().item()


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)

    def epoch(self, loader):
        losses = []
        for z, dz in loader:
            predicted = self.model(z)
            loss = F.mse_loss(predicted, dz)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        self.schedule.step()
        return np.mean(losses)


def main():
    args = parse()
    torch.manual_seed(args.seed)
    train = build_dataset(512, args.noise, args.seed)
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    trainer = Trainer(HamiltonianNet(dof=2, hidden=args.hidden), args)
    probe = train.tensors[0][:8]
    print(f"before: drift {energy_drift(trainer.model, probe):.2e}")
    for epoch in range(args.epochs):
        mse = trainer.epoch(loader)
        print(f"epoch {epoch}: mse {mse:.4f} drift {energy_drift(trainer.model, probe):.2e}")


if __name__ == "__main__":
    main()
