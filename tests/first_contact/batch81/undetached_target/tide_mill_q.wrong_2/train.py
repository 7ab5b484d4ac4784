"""Q-learning for the keeper of a tide mill: leave the gate, fill the pond, or grind."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from mill import Memory, Mill
from nets import Twins


@dataclass
class Plan:
    gamma: float = 0.9
    lr: float = 3e-3
    batch: int = 32
    warm_up: int = 40
    hours: int = 150
    epsilon: float = 0.2


class Keeper:
    def __init__(self, plan):
        self.plan = plan
        self.critics = Twins(3, 3)
        self.optimizer = torch.optim.Adam(self.critics.parameters(), lr=plan.lr)
        self.memory = Memory(500, seed=3)

    def act(self, state):
        if self.memory.rng.random() < self.plan.epsilon:
            return self.memory.rng.randrange(3)
        with torch.no_grad():
            return torch.min(*self.critics(state[None])).argmax().item()

    def td_loss(self, state, gate, reward, after):
        target = reward + self.plan.gamma * self.critics.worth(after)
        target = target.clone()
        loss = 0.0
        for q in self.critics(state):
            chosen = q.gather(1, gate[:, None]).squeeze(1)
            loss = loss + F.smooth_l1_loss(chosen, target)
        return loss

    def learn(self):
        loss = self.td_loss(*self.memory.sample(self.plan.batch))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(3)
    plan = Plan()
    keeper, mill = Keeper(plan), Mill(torch.Generator().manual_seed(3))
    flour, loss = 0.0, float("nan")
    for hour in range(plan.hours):
        state = mill.state()
        gate = keeper.act(state)
        reward = mill.step(gate)
        keeper.memory.push(state, gate, reward, mill.state())
        flour += reward
        if hour >= plan.warm_up:
            loss = keeper.learn()
        if hour % 50 == 49:
            print(f"hour {hour + 1}: flour {flour:.2f} loss {loss:.4f}")


if __name__ == "__main__":
    main()
