# expect: pattern = none
# TD3: the critic steps first, the delayed actor loss is computed from the stepped critic.
import copy

import torch
import torch.nn.functional as F
from torch import nn


def mlp(i, o, last=None):
    layers = [nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, o)]
    return nn.Sequential(*layers, *([last] if last else []))


class TD3:
    def __init__(self, obs=3, act=1):
        self.actor, self.q1, self.q2 = mlp(obs, act, nn.Tanh()), mlp(obs + act, 1), mlp(obs + act, 1)
        self.targets = {n: copy.deepcopy(getattr(self, n)) for n in ("actor", "q1", "q2")}
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.it = 0

    def update(self, s, a, r, s2):
        self.it += 1
        with torch.no_grad():
            a2 = (self.targets["actor"](s2) + 0.1 * torch.randn_like(a)).clamp(-1, 1)
            sa2 = torch.cat([s2, a2], 1)
            target = r + 0.99 * torch.min(self.targets["q1"](sa2), self.targets["q2"](sa2))
        sa = torch.cat([s, a], 1)
        critic_loss = F.mse_loss(self.q1(sa), target) + F.mse_loss(self.q2(sa), target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        if self.it % 2 == 0:
            actor_loss = -self.q1(torch.cat([s, self.actor(s)], 1)).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()
            with torch.no_grad():
                for name, target_net in self.targets.items():
                    for p, tp in zip(getattr(self, name).parameters(), target_net.parameters()):
                        tp.mul_(0.995).add_(0.005 * p)
        return critic_loss.item()


torch.manual_seed(0)
agent = TD3()
for i in range(6):
    s = torch.randn(16, 3)
    print(i, agent.update(s, torch.rand(16, 1) * 2 - 1, s[:, :1], torch.randn(16, 3)))
