# expect: pattern = none
# expect: raises = nothing
import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU())
        self.mu, self.log_std = nn.Linear(32, n_act), nn.Linear(32, n_act)

    def sample(self, obs):
        h = self.body(obs)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-4, 1).exp())
        u = dist.rsample()
        a = torch.tanh(u)
        logp = (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(1, keepdim=True)
        return a, logp


class TwinQ(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=1)
        return self.q1(x), self.q2(x)


class SAC:
    def __init__(self, n_obs, n_act, gamma=0.97, tau=0.02):
        self.policy, self.critic = Policy(n_obs, n_act), TwinQ(n_obs + n_act)
        self.target = copy.deepcopy(self.critic)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.pi_opt = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)
        self.gamma, self.tau, self.target_entropy = gamma, tau, -float(n_act)

    def update(self, obs, act, rew, nxt):
        with torch.no_grad():
            a2, logp2 = self.policy.sample(nxt)
            q_next = torch.min(*self.target(nxt, a2)) - self.log_alpha.exp() * logp2
            backup = rew + self.gamma * q_next
        q1, q2 = self.critic(obs, act)
        q_loss = ((q1 - backup) ** 2).mean() + ((q2 - backup) ** 2).mean()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        a, logp = self.policy.sample(obs)
        pi_loss = (self.log_alpha.exp().detach() * logp - torch.min(*self.critic(obs, a))).mean()
        self.pi_opt.zero_grad()
        pi_loss.backward()
        self.pi_opt.step()

        alpha_loss = -(self.log_alpha * (logp + self.target_entropy).detach()).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        with torch.no_grad():
            for p, tp in zip(self.critic.parameters(), self.target.parameters()):
                tp.mul_(1 - self.tau).add_(self.tau * p)
        return q_loss.item(), pi_loss.item()


torch.manual_seed(1)
rng = np.random.default_rng(1)
agent = SAC(3, 1)
levels = torch.tensor(rng.normal(size=(200, 3)), dtype=torch.float32)
speeds = torch.tensor(rng.uniform(-1, 1, (200, 1)), dtype=torch.float32)
nexts = 0.9 * levels + 0.2 * speeds
rewards = -nexts.pow(2).sum(1, keepdim=True)
for step in range(20):
    i = torch.tensor(rng.integers(0, 200, 32))
    q_loss, pi_loss = agent.update(levels[i], speeds[i], rewards[i], nexts[i])
    if step % 5 == 0:
        print(step, round(q_loss, 3), round(pi_loss, 3), agent.log_alpha.exp().item())
