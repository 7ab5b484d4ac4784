# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = actor_loss, pi_loss, critic, q
"""Two grippers push a block; a centralised critic, one actor each, targets with slow averages."""
import copy
import random
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Hyper:
    gamma: float = 0.9
    tau: float = 0.05
    batch: int = 24
    delay: int = 2


class Table:
    """The block moves by the mean of both pushes; reward is closeness to the middle."""

    def __init__(self):
        self.pos = torch.zeros(2)

    def reset(self):
        self.pos = torch.rand(2) * 2 - 1
        return self.pos.clone()

    def push(self, a, b):
        self.pos = (self.pos + 0.2 * (a + b) / 2).clamp(-1.5, 1.5)
        return self.pos.clone(), -self.pos.norm().item()


def net(i, o, last=None):
    layers = [nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, o)]
    return nn.Sequential(*layers, last) if last else nn.Sequential(*layers)


class Crew:
    def __init__(self, hp):
        self.hp = hp
        self.actors = [net(2, 2, nn.Tanh()) for _ in range(2)]
        self.critic = net(2 + 4, 1)
        self.actors_t = copy.deepcopy(self.actors)
        self.critic_t = copy.deepcopy(self.critic)
        self.pi_opts = [torch.optim.Adam(a.parameters(), 1e-3) for a in self.actors]
        self.q_opt = torch.optim.Adam(self.critic.parameters(), 3e-3)
        self.buffer = deque(maxlen=200)
        self.updates = 0

    def act(self, s, noise=0.3):
        with torch.no_grad():
            return [(a(s) + noise * torch.randn(2)).clamp(-1, 1) for a in self.actors]

    def q(self, critic, s, acts):
        return critic(torch.cat([s, *acts], dim=1)).squeeze(1)

    def update(self):
        hp = self.hp
        s, a, b, r, s2 = map(torch.stack, zip(*random.sample(list(self.buffer), hp.batch)))
        with torch.no_grad():
            y = r + hp.gamma * self.q(self.critic_t, s2, [t(s2) for t in self.actors_t])
        q_loss = F.mse_loss(self.q(self.critic, s, [a, b]), y)
        pi_loss = -self.q(self.critic, s, [self.actors[0](s), self.actors[1](s)]).mean()  # expect: place

        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()  # expect: place

        if self.updates % hp.delay == 0:
            for opt in self.pi_opts:
                opt.zero_grad()
            pi_loss.backward()  # expect: place
            for opt in self.pi_opts:
                opt.step()
            self.follow()
        self.updates += 1
        return q_loss.item()

    @torch.no_grad()
    def follow(self):
        pairs = [(self.critic, self.critic_t), *zip(self.actors, self.actors_t)]
        for net_, slow in pairs:
            for p, t in zip(net_.parameters(), slow.parameters()):
                t.lerp_(p, self.hp.tau)


def main():
    torch.manual_seed(2)
    random.seed(2)
    table, crew = Table(), Crew(Hyper())
    s = table.reset()
    for step in range(44):
        a, b = crew.act(s)
        s2, r = table.push(a, b)
        crew.buffer.append((s, a, b, torch.tensor(r), s2))
        s = s2 if step % 20 else table.reset()
        if len(crew.buffer) >= 32:
            last = crew.update()
    print("critic loss", round(last, 4))


if __name__ == "__main__":
    main()
