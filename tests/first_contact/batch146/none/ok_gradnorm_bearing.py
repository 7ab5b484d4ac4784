"""Bearing monitoring: remaining life (regression) + fault type (classification).

Task weights follow the gradient norms on the shared trunk, smoothed over the steps.
"""
import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

logger = logging.getLogger(__name__)


def build_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--beta", type=float, default=0.9)
    parser.add_argument("--floor", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=404)
    return parser


class Trunk(nn.Module):
    def __init__(self, channels=4, width=16):
        super().__init__()
        self.conv = nn.Conv1d(channels, width, 5, padding=2)
        self.rnn = nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        h = F.relu(self.conv(x.transpose(1, 2)))
        out, _ = self.rnn(h.transpose(1, 2))
        return out[:, -1]


class DualTaskNet(nn.Module):
    def __init__(self, n_faults=3, width=16):
        super().__init__()
        self.trunk = Trunk(width=width)
        self.life = nn.Linear(width, 1)
        self.fault = nn.Linear(width, n_faults)

    def forward(self, x):
        z = self.trunk(x)
        return self.life(z).squeeze(-1), self.fault(z)


class NormBalancer:
    """Gives the larger weight to the task with the smaller gradient on the shared part."""

    def __init__(self, shared, n_tasks, beta, floor):
        self.shared = list(shared)
        self.weights = torch.full((n_tasks,), 1.0 / n_tasks)
        self.beta = beta
        self.floor = floor

    def norms(self, losses):
        result = []
        for loss in losses:
            grads = torch.autograd.grad(loss, self.shared, retain_graph=True)
            result.append(torch.cat([g.flatten() for g in grads]).norm())
        return torch.stack(result)

    def combine(self, losses):
        norms = self.norms(losses)
        share = (norms.sum() - norms) / ((len(losses) - 1) * norms.sum() + 1e-12)
        self.weights = self.beta * self.weights + (1 - self.beta) * share
        clipped = self.weights.clamp(min=self.floor)
        return sum(w * loss for w, loss in zip(clipped / clipped.sum(), losses))


def make_data(n, length=20):
    fault = torch.randint(0, 3, (n,))
    life = torch.rand(n) * 100
    t = torch.arange(length).float().view(1, -1, 1)
    wave = torch.sin(t * (0.3 + 0.4 * fault.view(-1, 1, 1))) * (2 - life.view(-1, 1, 1) / 100)
    x = wave + 0.3 * torch.randn(n, length, 4)
    return TensorDataset(x, life, fault)


def train(model, loader, optimizer, balancer):
    model.train()
    sums = torch.zeros(2)
    for x, life, fault in loader:
        life_hat, fault_hat = model(x)
        losses = [F.mse_loss(life_hat, life / 100), F.cross_entropy(fault_hat, fault)]
        total = balancer.combine(losses)
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        sums += torch.stack(losses).detach()
    return (sums / len(loader)).tolist()


@torch.inference_mode()
def test(model, loader):
    model.eval()
    error, hits, n = 0.0, 0, 0
    for x, life, fault in loader:
        life_hat, fault_hat = model(x)
        error += (life_hat * 100 - life).abs().sum().item()
        hits += (fault_hat.argmax(1) == fault).sum().item()
        n += len(x)
    return error / n, hits / n


def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    args = build_parser().parse_args()
    torch.manual_seed(args.seed)
    train_loader = DataLoader(make_data(192), args.batch_size, shuffle=True)
    test_loader = DataLoader(make_data(64), args.batch_size)
    model = DualTaskNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    balancer = NormBalancer(model.trunk.parameters(), 2, args.beta, args.floor)
    for epoch in range(args.epochs):
        life_loss, fault_loss = train(model, train_loader, optimizer, balancer)
        mae, acc = test(model, test_loader)
        scheduler.step()
        logger.info("epoch %d life %.4f fault %.4f | mae %.1f acc %.2f | weights %s",
                    epoch, life_loss, fault_loss, mae, acc, balancer.weights.tolist())


if __name__ == "__main__":
    main()
