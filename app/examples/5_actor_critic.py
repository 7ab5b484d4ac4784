"""An actor-critic that steps between two backwards

The actor is to follow the critic's advice, but the critic has stepped in between.
"""

import torch
from torch import nn

torch.manual_seed(0)

actor = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def reward(states, actions):
    return -(actions - states[:, :2]).pow(2).sum(dim=1, keepdim=True)


for step in range(15):
    states = torch.randn(64, 6)
    tried = torch.rand(64, 2) * 2 - 1
    critic_loss = (critic(torch.cat([states, tried], 1)) - reward(states, tried)).pow(2).mean()
    actor_loss = -critic(torch.cat([states, actor(states)], 1)).mean()

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    print(f"step {step}: critic {critic_loss.item():.3f}, actor {actor_loss.item():.3f}")
