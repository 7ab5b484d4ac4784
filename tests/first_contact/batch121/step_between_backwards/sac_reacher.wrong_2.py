"""Soft actor-critic, twin critics, on logged transitions of a 1-D point mass."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class QFunction(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=48):
        super().__init__()
        self.net = mlp([obs_dim + act_dim, hidden, hidden, 1])

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1))


class TanhGaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=48):
        super().__init__()
        self.body = mlp([obs_dim, hidden, 2 * act_dim])

    def forward(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 1).exp())
        pre = dist.rsample()
        act = torch.tanh(pre)
        log_pi = dist.log_prob(pre) - torch.log(1 - act.pow(2) + 1e-6)
        return act, log_pi.sum(-1, keepdim=True)


class SACTrainer:
    def __init__(self, obs_dim=2, act_dim=1, gamma=0.98, tau=0.01, alpha=0.1):
        self.policy = TanhGaussianPolicy(obs_dim, act_dim)
        self.qf1, self.qf2 = QFunction(obs_dim, act_dim), QFunction(obs_dim, act_dim)
        self.target_qf1 = copy.deepcopy(self.qf1)
        self.target_qf2 = copy.deepcopy(self.qf2)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.qf1_optimizer = torch.optim.Adam(self.qf1.parameters(), lr=1e-3)
        self.qf2_optimizer = torch.optim.Adam(self.qf2.parameters(), lr=1e-3)
        self.gamma, self.tau, self.alpha = gamma, tau, alpha

    def train_from_batch(self, batch):
        obs, actions, rewards, next_obs = batch

        # policy loss
        new_actions, log_pi = self.policy(obs)
        q_new_actions = torch.min(self.qf1(obs, new_actions), self.qf2(obs, new_actions))
        policy_loss = (self.alpha * log_pi - q_new_actions).mean()

        # critic losses
        with torch.no_grad():
            next_actions, next_log_pi = self.policy(next_obs)
            target_q = torch.min(
                self.target_qf1(next_obs, next_actions), self.target_qf2(next_obs, next_actions)
            )
            q_target = rewards + self.gamma * (target_q - self.alpha * next_log_pi)
        qf1_loss = F.mse_loss(self.qf1(obs, actions), q_target)
        qf2_loss = F.mse_loss(self.qf2(obs, actions), q_target)

        # update networks
        self.qf1_optimizer.zero_grad()
        qf1_loss.backward(retain_graph=True)
        self.qf1_optimizer.step()

        self.qf2_optimizer.zero_grad()
        qf2_loss.backward(retain_graph=True)
        self.qf2_optimizer.step()

        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        for net, target in ((self.qf1, self.target_qf1), (self.qf2, self.target_qf2)):
            with torch.no_grad():
                for p, tp in zip(net.parameters(), target.parameters()):
                    tp.lerp_(p, self.tau)
        return qf1_loss.item(), qf2_loss.item(), policy_loss.item()


def collect(n, generator):
    pos = torch.rand(n, 1, generator=generator) * 2 - 1
    vel = torch.randn(n, 1, generator=generator) * 0.3
    act = torch.rand(n, 1, generator=generator) * 2 - 1
    new_vel = 0.9 * vel + 0.2 * act
    new_pos = pos + 0.1 * new_vel
    reward = -(new_pos.pow(2) + 0.05 * act.pow(2))
    return torch.cat([pos, vel], 1), act, reward, torch.cat([new_pos, new_vel], 1)


if __name__ == "__main__":
    torch.manual_seed(7)
    g = torch.Generator().manual_seed(7)
    data = collect(1024, g)
    trainer = SACTrainer()
    for it in range(30):
        idx = torch.randint(0, 1024, (64,), generator=g)
        stats = trainer.train_from_batch([d[idx] for d in data])
        if it % 10 == 0:
            print(it, ["%.4f" % s for s in stats])
