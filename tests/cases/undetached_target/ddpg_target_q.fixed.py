# DDPG; one pass of the actor serves the current and the next states.
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class Critic(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(s + a, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, s, a):
        return self.q(torch.cat([s, a], dim=-1)).squeeze(-1)


torch.manual_seed(50)
GAMMA, TAU = 0.98, 0.05
actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())
critic = Critic(3, 1)
target_critic = copy.deepcopy(critic)
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optim = torch.optim.Adam(critic.parameters(), lr=2e-3)

for step in range(4):
    s, a, s2 = torch.randn(16, 3), torch.rand(16, 1) * 2 - 1, torch.randn(16, 3)
    r = -(a.squeeze(1) - s[:, 0]).pow(2)
    mu, mu_next = actor(torch.cat([s, s2])).chunk(2)

    target = r + GAMMA * target_critic(s2, mu_next)
    critic_loss = F.mse_loss(critic(s, a), target.detach())
    critic_optim.zero_grad()
    critic_loss.backward()
    critic_optim.step()

    actor_loss = -critic(s, mu).mean()
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()

    with torch.no_grad():
        for p, tp in zip(critic.parameters(), target_critic.parameters()):
            tp.mul_(1 - TAU).add_(TAU * p)
