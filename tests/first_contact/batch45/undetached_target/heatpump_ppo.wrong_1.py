"""Clipped policy optimisation for a heat pump that has to hold 21 degrees."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Log:
    readings: torch.Tensor
    settings: torch.Tensor
    logp: torch.Tensor
    gains: torch.Tensor


class House:
    """Indoor and outdoor temperature; three settings of the pump."""

    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.inside, self.outside = 17.0, 2.0

    def read(self):
        return torch.tensor([(self.inside - 21.0) / 5.0, self.outside / 10.0])

    def run(self, setting):
        self.outside += float(torch.randn((), generator=self.rng)) * 0.4
        leak = 0.05 * (self.inside - self.outside)
        self.inside += 1.2 * setting - leak
        return -abs(self.inside - 21.0) - 0.1 * setting


class Controller(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 24), nn.Tanh())
        self.policy = nn.Linear(24, 3)
        self.worth = nn.Linear(24, 1)

    def choose(self, reading):
        return Categorical(logits=self.policy(self.body(reading)))

    def value(self, reading):
        return self.worth(self.body(reading)).squeeze(-1)


def drive(house, controller, hours):
    readings, settings, logp, gains = [], [], [], []
    with torch.no_grad():
        for _ in range(hours):
            reading = house.read()
            dist = controller.choose(reading)
            setting = dist.sample()
            readings.append(reading)
            settings.append(setting)
            logp.append(dist.log_prob(setting))
            gains.append(house.run(int(setting)))
    return Log(torch.stack(readings), torch.stack(settings), torch.stack(logp), torch.tensor(gains))


def discounted(gains, gamma=0.95):
    total, out = 0.0, []
    for gain in reversed(gains.tolist()):
        total = gain + gamma * total
        out.append(total)
    return torch.tensor(out[::-1])


def improve(controller, adam, log, passes=4, clip=0.2):
    goal = discounted(log.gains) / 20.0
    for _ in range(passes):
        advantage = goal - controller.value(log.readings)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        dist = controller.choose(log.readings)
        ratio = torch.exp(dist.log_prob(log.settings) - log.logp)
        clipped = ratio.clamp(1 - clip, 1 + clip)
        gain = torch.min(ratio * advantage, clipped * advantage).mean()
        fit = nn.functional.mse_loss(controller.value(log.readings), goal)
        objective = 0.5 * fit - gain - 0.01 * dist.entropy().mean()
        adam.zero_grad()
        objective.backward()
        adam.step()
    return float(fit)


torch.manual_seed(4)
house = House(seed=8)
controller = Controller()
adam = torch.optim.Adam(controller.parameters(), lr=3e-3)
for day in range(5):
    log = drive(house, controller, hours=24)
    fit = improve(controller, adam, log)
    print(f"day {day}: mean gain {log.gains.mean():.2f}, value error {fit:.3f}")
