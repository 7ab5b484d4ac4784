# Q-learning with prioritised replay; the TD errors come back as priorities.
import copy
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Step:
    obs: torch.Tensor
    action: int
    reward: float
    following: torch.Tensor


class PrioritisedReplay:
    def __init__(self, alpha=0.6, beta=0.4):
        self.alpha, self.beta = alpha, beta
        self.steps, self.priorities = [], []

    def add(self, step):
        self.steps.append(step)
        self.priorities.append(max(self.priorities, default=torch.ones(())))

    def sample(self, n):
        p = torch.stack(self.priorities).pow(self.alpha)
        p = p / p.sum()
        index = torch.multinomial(p, n).tolist()
        weights = (len(p) * p[index]).pow(-self.beta)
        return index, [self.steps[i] for i in index], weights / weights.max()

    def update(self, index, errors):
        for i, error in zip(index, errors):
            self.priorities[i] = error.abs() + 1e-3


class QNet(nn.Sequential):
    def __init__(self, obs, actions):
        super().__init__(nn.Linear(obs, 24), nn.ReLU(), nn.Linear(24, actions))


def learn(online, target, replay, optimizer, n=8, gamma=0.95):
    index, steps, weights = replay.sample(n)
    obs = torch.stack([s.obs for s in steps])
    action = torch.tensor([s.action for s in steps])
    reward = torch.tensor([s.reward for s in steps])
    with torch.no_grad():
        best = target(torch.stack([s.following for s in steps])).max(1).values
    q = online(obs).gather(1, action[:, None]).squeeze(1)
    errors = reward + gamma * best - q
    loss = (weights * F.huber_loss(q, reward + gamma * best, reduction="none")).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    replay.update(index, errors)
    return loss.item()


torch.manual_seed(3)
online = QNet(4, 2)
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
replay = PrioritisedReplay()
for t in range(30):
    obs = torch.randn(4)
    replay.add(Step(obs, int(obs[0] > 0), obs.sum().item(), torch.randn(4)))
    if t >= 12 and t % 3 == 0:
        print(t, learn(online, target, replay, optimizer))
