"""Opening a canal gate for the fields below: Q-learning from a log of hand-operated seasons."""
import random
from collections import deque, namedtuple

import torch
from torch import nn

Move = namedtuple("Move", "state gate reward after last")
GATES = 3


class Canal:
    """Soil water of two fields and the level in the canal; the gate serves neither or one of them."""

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def reset(self):
        self.soil, self.level, self.day = [0.6, 0.6], 0.8, 0
        return self.observe()

    def observe(self):
        return torch.tensor([*self.soil, self.level, self.day / 20])

    def step(self, gate):
        self.day += 1
        self.level = min(1.0, self.level + self.dice.uniform(0, 0.12))
        if gate > 0 and self.level > 0.15:
            self.level -= 0.15
            self.soil[gate - 1] = min(1.0, self.soil[gate - 1] + 0.25)
        self.soil = [max(0.0, s - self.dice.uniform(0.03, 0.12)) for s in self.soil]
        reward = -sum((s - 0.6) ** 2 for s in self.soil) - 0.02 * (gate > 0)
        return self.observe(), reward, self.day >= 20


class Steward:
    def __init__(self, gamma=0.95, lr=5e-3):
        self.q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, GATES))
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.log = deque(maxlen=600)
        self.gamma = gamma
        self.dice = random.Random(7)

    def choose(self, state, eps):
        if self.dice.random() < eps:
            return self.dice.randrange(GATES)
        with torch.no_grad():
            return int(self.q(state).argmax())

    def learn(self, size=48):
        batch = Move(*zip(*self.dice.sample(list(self.log), size)))
        states, afters = torch.stack(batch.state), torch.stack(batch.after)
        gates = torch.tensor(batch.gate)
        rewards, last = torch.tensor(batch.reward), torch.tensor(batch.last, dtype=torch.float)
        q = self.q(states).gather(1, gates[:, None]).squeeze(1)
        with torch.no_grad():
            ahead = self.q(afters).max(dim=1).values
        target = rewards + self.gamma * (1 - last) * ahead
        loss = nn.functional.smooth_l1_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 5.0)
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(1)
    canal, steward = Canal(3), Steward()
    returns = deque(maxlen=5)
    for season in range(20):
        state, done, total = canal.reset(), False, 0.0
        hand = season < 5
        while not done:
            gate = steward.choose(state, 1.0 if hand else 0.1)
            after, reward, done = canal.step(gate)
            steward.log.append(Move(state, gate, reward, after, done))
            state, total = after, total + reward
        returns.append(total)
        if not hand:
            losses = [steward.learn() for _ in range(5)]
            if season % 5 == 4:
                print(f"season {season + 1}: return {sum(returns) / len(returns):.3f}, td {sum(losses) / 5:.5f}")


if __name__ == "__main__":
    main()
