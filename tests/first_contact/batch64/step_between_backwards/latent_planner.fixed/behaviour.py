import torch
import torch.nn as nn
import torch.nn.functional as F


def discounted_returns(rewards, values, discount=0.97, lam=0.9):
    last = values[-1]
    out = []
    for r, v in zip(reversed(rewards[:-1]), reversed(values[1:])):
        last = r + discount * ((1 - lam) * v + lam * last)
        out.append(last)
    return torch.stack(out[::-1])


class Behaviour:
    """Actor and critic, both trained on imagined latent rollouts."""

    def __init__(self, latent, act_dim, horizon=5, lr=3e-3):
        self.horizon = horizon
        self.actor = nn.Sequential(nn.Linear(latent, 24), nn.ELU(), nn.Linear(24, act_dim), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(latent, 24), nn.ELU(), nn.Linear(24, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def imagine(self, dynamics, start):
        z, trajectory = start, [start]
        for _ in range(self.horizon):
            z = dynamics.step(z, self.actor(z))
            trajectory.append(z)
        return torch.stack(trajectory)

    def update(self, dynamics, start):
        feats = self.imagine(dynamics, start)
        rewards = dynamics.reward(feats).squeeze(-1)
        values = self.critic(feats).squeeze(-1)
        returns = discounted_returns(rewards, values)

        actor_loss = -returns.mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        values = self.critic(feats.detach()).squeeze(-1)
        critic_loss = F.mse_loss(values[:-1], returns.detach())
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        return actor_loss.item(), critic_loss.item()
