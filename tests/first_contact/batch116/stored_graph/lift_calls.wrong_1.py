"""One lift, six floors. The controller learns from its own days and once more from the best."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FLOORS = 6
MOVES = ("down", "open", "up")
DAY = 14


class Building:
    """People appear on floors; opening the doors takes along everybody who waits there."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def reset(self) -> torch.Tensor:
        self.floor = 0
        self.waiting = self.rng.poisson(0.6, FLOORS).astype(np.float32)
        return self.view()

    def view(self) -> torch.Tensor:
        where = np.eye(FLOORS, dtype=np.float32)[self.floor]
        return torch.from_numpy(np.concatenate([where, self.waiting]))

    def move(self, index: int) -> tuple[torch.Tensor, float]:
        gain = 0.0
        if MOVES[index] == "open":
            gain = float(self.waiting[self.floor])
            self.waiting[self.floor] = 0
        else:
            self.floor = int(np.clip(self.floor + index - 1, 0, FLOORS - 1))
        self.waiting += self.rng.random(FLOORS) < 0.12
        return self.view(), gain - 0.05 * float(self.waiting.sum())


@dataclass
class Day:
    views: torch.Tensor
    moves: torch.Tensor
    log_probs: torch.Tensor
    returns: torch.Tensor

    @property
    def score(self) -> float:
        return self.returns[0].item()


class Logbook:
    """The best days so far, best first."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.days: list[Day] = []

    def add(self, day: Day) -> None:
        self.days.append(day)
        self.days.sort(key=lambda entry: -entry.score)
        del self.days[self.pages :]


def discounted(rewards: list[float], rate: float = 0.95) -> torch.Tensor:
    out, ahead = [], 0.0
    for reward in reversed(rewards):
        ahead = reward + rate * ahead
        out.append(ahead)
    return torch.tensor(out[::-1])


def live_through(building: Building, policy: nn.Module) -> Day:
    view, views, moves, log_probs, rewards = building.reset(), [], [], [], []
    for _ in range(DAY):
        choice = Categorical(logits=policy(view))
        move = choice.sample()
        views.append(view)
        moves.append(move)
        log_probs.append(choice.log_prob(move))
        view, reward = building.move(int(move))
        rewards.append(reward)
    return Day(
        torch.stack(views),
        torch.stack(moves),
        torch.stack(log_probs),
        discounted(rewards),
    )


def train(days: int = 20, imitation: float = 0.5) -> Logbook:
    building, logbook = Building(seed=2), Logbook(pages=3)
    policy = nn.Sequential(nn.Linear(2 * FLOORS, 24), nn.Tanh(), nn.Linear(24, len(MOVES)))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    usual = torch.zeros(DAY)
    for number in range(days):
        day = live_through(building, policy)
        loss = -(day.log_probs * (day.returns - usual)).mean()
        for best in logbook.days:
            better = (best.returns - usual).clamp(min=0)
            loss = loss - imitation * (best.log_probs * better).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        usual = 0.9 * usual + 0.1 * day.returns
        logbook.add(replace(day, log_probs=day.log_probs.detach()))
        if number % 5 == 0:
            print(f"day {number:2d}  score {day.score:+.2f}  best {logbook.days[0].score:+.2f}")
    return logbook


if __name__ == "__main__":
    torch.manual_seed(6)
    best = train().days[0]
    print("the best day:", " ".join(MOVES[move] for move in best.moves.tolist()))
    print("calls waiting at its end:", int(best.views[-1, FLOORS:].sum()))
