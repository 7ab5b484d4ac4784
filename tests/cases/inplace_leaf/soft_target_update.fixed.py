import copy
import torch
from torch import nn
import torch.nn.functional as F


class TD3:
    def __init__(self, s, a):
        self.actor = nn.Sequential(nn.Linear(s, 32), nn.ReLU(), nn.Linear(32, a), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(s + a, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), 3e-4)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), 3e-4)
        self.it = 0

    def q(self, net, s, a):
        return net(torch.cat([s, a], 1))

    @torch.no_grad()
    def soft_update(self, net, target, tau=0.005):
        for p, t in zip(net.parameters(), target.parameters()):
            t.copy_(tau * p + (1 - tau) * t)

    def train(self, batch):
        self.it += 1
        s, a, r, s2, d = batch
        with torch.no_grad():
            a2 = (self.actor_target(s2) + 0.1 * torch.randn_like(a)).clamp(-1, 1)
            y = r + 0.99 * (1 - d) * self.q(self.critic_target, s2, a2)
        critic_loss = F.mse_loss(self.q(self.critic, s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        if self.it % 2 == 0:
            actor_loss = -self.q(self.critic, s, self.actor(s)).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()
            self.soft_update(self.critic, self.critic_target)
            self.soft_update(self.actor, self.actor_target)
        return critic_loss.item()


torch.manual_seed(0)
agent = TD3(4, 2)
for i in range(6):
    b = 16
    print(agent.train((torch.randn(b, 4), torch.rand(b, 2) * 2 - 1, torch.randn(b, 1), torch.randn(b, 4), torch.zeros(b, 1))))
