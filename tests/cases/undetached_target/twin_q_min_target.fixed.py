# Two critics with an optimizer each learn from one target, which was made with a graph.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def critic():
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))


class Twin:
    def __init__(self, gamma=0.95):
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
        self.critics = [critic(), critic()]
        self.targets = [copy.deepcopy(c) for c in self.critics]
        self.optims = [torch.optim.Adam(c.parameters(), lr=1e-3) for c in self.critics]
        self.gamma = gamma

    def backup(self, reward, following):
        action = self.actor(following)
        pair = torch.cat([following, action], dim=1)
        worst = torch.min(*(t(pair) for t in self.targets))
        return reward + self.gamma * worst

    def learn(self, obs, action, reward, following):
        target = self.backup(reward, following).detach()
        sa = torch.cat([obs, action], dim=1)
        out = []
        for net, opt in zip(self.critics, self.optims):
            loss = F.mse_loss(net(sa), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            out.append(loss.item())
        return out


torch.manual_seed(0)
agent = Twin()
for i in range(3):
    obs = torch.randn(12, 3)
    print(i, agent.learn(obs, torch.rand(12, 2) * 2 - 1, obs[:, :1], torch.randn(12, 3)))
