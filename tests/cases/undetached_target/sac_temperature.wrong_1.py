import math
import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianActor(nn.Module):
    def __init__(self, s=3, a=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(s, 20), nn.ReLU())
        self.mu, self.log_std = nn.Linear(20, a), nn.Linear(20, a)

    def sample(self, s):
        h = self.body(s)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-3, 1).exp())
        u = dist.rsample()
        logp = dist.log_prob(u) - 2 * (math.log(2) - u - nn.functional.softplus(-2 * u))
        return torch.tanh(u), logp.sum(-1)


class SAC:
    def __init__(self):
        self.actor = GaussianActor()
        self.critic = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -2.0
        self.opts = {
            "actor": torch.optim.Adam(self.actor.parameters(), lr=3e-4),
            "critic": torch.optim.Adam(self.critic.parameters(), lr=3e-4),
            "alpha": torch.optim.Adam([self.log_alpha], lr=3e-4),
        }

    def apply(self, name, loss):
        self.opts[name].zero_grad()
        loss.backward()
        self.opts[name].step()

    def update(self, s, a, q_target):
        q = self.critic(torch.cat([s, a], -1)).squeeze(-1)
        self.apply("critic", nn.functional.mse_loss(q, q_target))
        new_a, log_pi = self.actor.sample(s)
        log_pi = log_pi.detach()
        alpha_loss = -(self.log_alpha * (log_pi + self.target_entropy)).mean()
        self.apply("alpha", alpha_loss)
        q_new = self.critic(torch.cat([s, new_a], -1)).squeeze(-1)
        self.apply("actor", (self.log_alpha.exp().detach() * log_pi - q_new).mean())


torch.manual_seed(0)
agent = SAC()
for _ in range(3):
    s, a = torch.randn(12, 3), torch.rand(12, 2) * 2 - 1
    agent.update(s, a, q_target=(s[:, :2] * a).sum(-1))
