"""Driving-log model with three heads; task weights follow learned uncertainties."""
from typing import NamedTuple

import torch
from torch import nn
import torch.nn.functional as F


class Batch(NamedTuple):
    sensors: torch.Tensor
    steering: torch.Tensor
    lane: torch.Tensor
    brake: torch.Tensor


class DrivingNet(nn.Module):
    def __init__(self, sensors=14, width=32, lanes=4):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(sensors, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        )
        self.heads = nn.ModuleDict(
            {
                "steering": nn.Linear(width, 1),
                "lane": nn.Linear(width, lanes),
                "brake": nn.Linear(width, 1),
            }
        )

    def forward(self, sensors):
        z = self.trunk(sensors)
        return {name: head(z) for name, head in self.heads.items()}


class UncertaintyBalancer(nn.Module):
    """One log variance a task, with an optimizer of its own (slower than the network's)."""

    def __init__(self, tasks, lr):
        super().__init__()
        self.log_var = nn.ParameterDict({t: nn.Parameter(torch.zeros(())) for t in tasks})
        self.optimizer = torch.optim.SGD(self.parameters(), lr=lr)

    def weights(self):
        return {t: torch.exp(-s).item() for t, s in self.log_var.items()}

    def update(self, losses):
        balance = sum(torch.exp(-s).detach() * losses[t].detach() + s for t, s in self.log_var.items())
        self.optimizer.zero_grad()
        balance.backward()
        self.optimizer.step()


class MultiTaskTrainer:
    def __init__(self, net, lr=3e-3, balance_lr=0.02):
        self.net = net
        self.balancer = UncertaintyBalancer(net.heads.keys(), balance_lr)
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def task_losses(self, batch):
        out = self.net(batch.sensors)
        return {
            "steering": F.mse_loss(out["steering"].squeeze(-1), batch.steering),
            "lane": F.cross_entropy(out["lane"], batch.lane),
            "brake": F.binary_cross_entropy_with_logits(out["brake"].squeeze(-1), batch.brake),
        }

    def training_step(self, batch):
        losses = self.task_losses(batch)
        weights = self.balancer.weights()
        total = sum(weights[t] * value for t, value in losses.items())
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        self.balancer.update(losses)
        return {t: value.item() for t, value in losses.items()}


def simulate(count, generator):
    sensors = torch.randn(count, 14, generator=generator)
    steering = torch.sin(sensors[:, 0]) + 0.5 * sensors[:, 1] * sensors[:, 2]
    lane = (sensors[:, 3:7] + 0.3 * sensors[:, 7:11]).argmax(dim=1)
    brake = (sensors[:, 11:].sum(dim=1) > 0).float()
    return Batch(sensors, 4 * steering, lane, brake)


def main():
    torch.manual_seed(21)
    generator = torch.Generator().manual_seed(22)
    trainer = MultiTaskTrainer(DrivingNet())
    for step in range(60):
        report = trainer.training_step(simulate(48, generator))
        if step % 15 == 0:
            line = "  ".join(f"{task} {value:.3f}" for task, value in report.items())
            print(f"[{step:3d}] {line}")
    print({t: round(w, 3) for t, w in trainer.balancer.weights().items()})


if __name__ == "__main__":
    main()
