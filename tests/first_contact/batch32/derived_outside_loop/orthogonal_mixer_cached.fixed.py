"""Blind separation of whale calls recorded on an array of hydrophones.

The unmixing matrix is kept orthogonal by a parametrization. Evaluating it (a matrix
exponential) was half of the run time, so its value is cached.
"""
import argparse

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal
from torch.utils.data import DataLoader, TensorDataset


class Unmixer(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.front = orthogonal(nn.Linear(channels, channels, bias=False), orthogonal_map="matrix_exp")
        self.body = nn.Sequential(nn.Conv1d(channels, width, 5, padding=2), nn.GELU())
        self.head = nn.Conv1d(width, channels, 1)

    def forward(self, wave):
        rotated = self.front(wave.transpose(1, 2)).transpose(1, 2)
        return rotated + self.head(self.body(rotated))


def synthetic_calls(n, channels, length, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 1, length)
    chirp = 4 + 12 * torch.rand(n, channels, 1, generator=g)
    calls = torch.sin(6.28 * chirp * t ** 2)
    mixing, _ = torch.linalg.qr(torch.randn(channels, channels, generator=g))
    return torch.einsum("ij,njt->nit", mixing, calls), calls


def run_epoch(model, loader, criterion, optimizer=None):
    total, count = 0.0, 0
    for mixed, clean in loader:
        with parametrize.cached():
            loss = criterion(model(mixed), clean)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(mixed)
        count += len(mixed)
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(12)
    train = TensorDataset(*synthetic_calls(64, 4, 60, seed=1))
    valid = TensorDataset(*synthetic_calls(16, 4, 60, seed=1))
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=args.batch_size)

    model = Unmixer(channels=4, width=12)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.L1Loss()
    for epoch in range(args.epochs):
        fit = run_epoch(model, train_loader, criterion, optimizer)
        with torch.no_grad():
            held = run_epoch(model, valid_loader, criterion)
        print(f"epoch {epoch}: train {fit:.4f} valid {held:.4f}")


if __name__ == "__main__":
    main()
