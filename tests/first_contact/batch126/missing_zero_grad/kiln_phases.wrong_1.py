"""Offline tuning of a kiln: a critic learns the yield, an actor picks the settings."""
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)


@dataclass
class Phase:
    name: str
    loss: Callable
    optimizer: torch.optim.Optimizer


class Trainer:
    def __init__(self, phases):
        self.phases = phases

    def clear(self):
        for phase in self.phases:
            phase.optimizer.zero_grad(set_to_none=True)

    def run_batch(self, batch):
        logs = {}
        for phase in self.phases:
            loss = phase.loss(batch)
            loss.backward()
            phase.optimizer.step()
            logs[phase.name] = loss.item()
        self.clear()
        return logs

    def fit(self, batches, every=20):
        for number, batch in enumerate(batches):
            logs = self.run_batch(batch)
            if number % every == 0:
                print(number, " ".join(f"{name} {value:+.4f}" for name, value in logs.items()))


class Kiln(nn.Module):
    def __init__(self, sensors=6, settings=2, hidden=32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(sensors, hidden), nn.Tanh(), nn.Linear(hidden, settings), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(sensors + settings, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def worth(self, state, setting):
        return self.critic(torch.cat([state, setting], dim=-1)).squeeze(-1)

    def actor_loss(self, batch):
        return -self.worth(batch["state"], self.actor(batch["state"])).mean()

    def critic_loss(self, batch):
        return F.mse_loss(self.worth(batch["state"], batch["setting"]), batch["yield"])


def shifts(count, generator):
    for _ in range(count):
        state = torch.randn(64, 6, generator=generator)
        setting = torch.rand(64, 2, generator=generator) * 2 - 1
        best = torch.tanh(state[:, :2])
        outcome = 1 - (setting - best).square().sum(-1) + 0.05 * torch.randn(64, generator=generator)
        yield {"state": state, "setting": setting, "yield": outcome}


def main():
    kiln = Kiln()
    phases = [
        Phase("actor", kiln.actor_loss, torch.optim.Adam(kiln.actor.parameters(), lr=1e-3)),
        Phase("critic", kiln.critic_loss, torch.optim.Adam(kiln.critic.parameters(), lr=3e-3)),
    ]
    Trainer(phases).fit(shifts(80, torch.Generator().manual_seed(4)))


main()
