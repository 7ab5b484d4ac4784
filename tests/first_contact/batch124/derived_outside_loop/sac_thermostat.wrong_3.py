import copy
import random

import torch
from torch import nn
from torch.distributions import Normal


def mlp(i, o, h=32):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class Room:
    """Keep a room at 21 degrees; the action heats or cools."""

    def reset(self):
        self.temp, self.outside = random.uniform(15, 27), random.uniform(0, 30)
        return self._obs()

    def _obs(self):
        return torch.tensor([(self.temp - 21) / 5, (self.outside - 15) / 10])

    def step(self, action):
        self.temp += 0.1 * (self.outside - self.temp) + 2.0 * action
        return self._obs(), -abs(self.temp - 21) / 5


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = mlp(obs_dim, 2 * act_dim)

    def sample(self, obs):
        mu, log_std = self.net(obs).chunk(2, dim=-1)
        dist = Normal(mu, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        a = torch.tanh(u)
        logp = (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return a, logp


class SAC:
    def __init__(self, obs_dim, act_dim, gamma=0.95, tau=0.01, lr=3e-3):
        self.gamma, self.tau = gamma, tau
        self.actor = Policy(obs_dim, act_dim)
        self.q = mlp(obs_dim + act_dim, 1)
        self.q_target = copy.deepcopy(self.q)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.target_entropy = -float(act_dim)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha = self.log_alpha.exp().detach().requires_grad_()
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=lr)

    def update(self, batch):
        s, a, r, s2 = batch
        with torch.no_grad():
            a2, logp2 = self.actor.sample(s2)
            soft_v = self.q_target(torch.cat([s2, a2], 1)) - self.alpha * logp2
            y = r + self.gamma * soft_v
        q_loss = (self.q(torch.cat([s, a], 1)) - y).pow(2).mean()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        pi, logp = self.actor.sample(s)
        actor_loss = (self.alpha.detach() * logp - self.q(torch.cat([s, pi], 1))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        alpha_loss = -(self.alpha * (logp.detach() + self.target_entropy)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        with torch.no_grad():
            for p, tp in zip(self.q.parameters(), self.q_target.parameters()):
                tp.mul_(1 - self.tau).add_(self.tau * p)
        return q_loss.item(), alpha_loss.item()


random.seed(5)
torch.manual_seed(5)
env, agent, replay = Room(), SAC(2, 1), []
obs = env.reset()
for step in range(60):
    with torch.no_grad():
        action, _ = agent.actor.sample(obs.unsqueeze(0))
    nxt, reward = env.step(action.item())
    replay.append((obs, action[0], torch.tensor([reward]), nxt))
    obs = nxt if step % 20 else env.reset()
    if len(replay) >= 32:
        batch = [torch.stack(col) for col in zip(*random.sample(replay, 32))]
        q_loss, alpha_loss = agent.update(batch)
print("temperature", agent.log_alpha.exp().item(), "q loss", q_loss)
