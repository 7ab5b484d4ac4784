"""DDPG on a made-up one-dimensional control problem."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, n_out))


class DDPG:
    def __init__(self, obs_dim=3, act_dim=1, gamma=0.97, tau=0.05):
        self.actor, self.critic = mlp(obs_dim, act_dim), mlp(obs_dim + act_dim, 1)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.gamma, self.tau = gamma, tau

    def q(self, obs, act):
        return self.critic(torch.cat([obs, act], dim=1))

    def update(self, obs, act, rew, nxt):
        with torch.no_grad():
            nxt_act = torch.tanh(self.actor_target(nxt))
            backup = rew + self.gamma * self.critic_target(torch.cat([nxt, nxt_act], dim=1))

        critic_loss = F.mse_loss(self.q(obs, act), backup)

        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        actor_loss = -self.q(obs, torch.tanh(self.actor(obs))).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        with torch.no_grad():
            for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, tp in zip(net.parameters(), target.parameters()):
                    tp.lerp_(p, self.tau)
        return critic_loss.item(), actor_loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    agent = DDPG()
    for it in range(6):
        obs = torch.randn(20, 3)
        act = torch.rand(20, 1) * 2 - 1
        losses = agent.update(obs, act, -obs[:, :1].abs(), obs + 0.1 * torch.randn(20, 3))
    print("critic %.4f actor %.4f" % losses)
