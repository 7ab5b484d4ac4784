"""Pretraining on beehive scales: from a day with hidden hours, foresee what a slow copy of the
encoder makes of the whole day. Weight and brood temperature, 24 readings each.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

HOURS, CHANNELS, WIDTH = 24, 2, 16


class DayEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.widen = nn.Conv1d(CHANNELS, WIDTH, 5, padding=2)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, day):
        return self.mix(F.gelu(self.widen(day))).transpose(1, 2)


class HiveLearner(nn.Module):
    def __init__(self, lag=0.98):
        super().__init__()
        self.student = DayEncoder()
        self.teacher = copy.deepcopy(self.student)
        self.guesser = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH))
        self.lag = lag

    def views(self, day, hidden):
        guess = self.guesser(self.student(day.masked_fill(hidden[:, None, :], 0.0)))
        with torch.no_grad():
            goal = self.teacher(day)
        return guess, goal

    @torch.no_grad()
    def follow(self):
        for slow, quick in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(quick, 1 - self.lag)


def hour_term(guess, goal, hidden):
    return F.smooth_l1_loss(guess[hidden], goal[hidden])


def day_term(guess, goal):
    return 1 - F.cosine_similarity(guess.mean(1), goal.mean(1), dim=-1).mean()


def days(count, generator):
    clock = torch.linspace(0, 2 * torch.pi, HOURS)
    for _ in range(count):
        phase = torch.rand(32, 1, generator=generator)
        forage = torch.sin(clock + phase) + 0.1 * torch.randn(32, HOURS, generator=generator)
        brood = 0.3 * torch.cos(clock - phase) + 0.05 * torch.randn(32, HOURS, generator=generator)
        hidden = torch.rand(32, HOURS, generator=generator) < 0.3
        yield torch.stack([forage, brood], dim=1), hidden


def main():
    torch.manual_seed(11)
    learner = HiveLearner()
    optimizer = torch.optim.AdamW(
        [*learner.student.parameters(), *learner.guesser.parameters()], lr=3e-3
    )
    for number, (day, hidden) in enumerate(days(40, torch.Generator().manual_seed(5))):
        guess, goal = learner.views(day, hidden)
        loss = hour_term(guess, goal, hidden) + 0.5 * day_term(guess, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        learner.follow()
        if number % 10 == 0:
            print(f"{number:3d} loss {loss.item():.4f} spread {goal.std().item():.4f}")


if __name__ == "__main__":
    main()
