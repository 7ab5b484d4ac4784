# expect: pattern = none
# expect: raises = nothing
"""Pixel SAC on a 5x5 grid "walk to the light" task: the encoder learns from the critic alone."""
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA, TAU, TARGET_ENTROPY = 0.95, 0.02, -2.0


class LightWorld:
    def __init__(self):
        self.reset()

    def reset(self):
        self.pos = torch.rand(2) * 4
        self.light = torch.rand(2) * 4
        self.t = 0
        return self.render()

    def render(self):
        yx = torch.stack(torch.meshgrid(torch.arange(5.0), torch.arange(5.0), indexing="ij"))
        blob = lambda c: torch.exp(-((yx - c[:, None, None]) ** 2).sum(0))
        return torch.stack([blob(self.pos), blob(self.light)])

    def step(self, action):
        self.pos = (self.pos + action).clamp(0, 4)
        self.t += 1
        reward = -(self.pos - self.light).norm().item()
        return self.render(), reward, self.t >= 20


class Actor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, z):
        mu, log_std = self.body(z).chunk(2, dim=-1)
        std = log_std.clamp(-4, 1).exp()
        u = mu + std * torch.randn_like(mu)
        a = torch.tanh(u)
        logp = torch.distributions.Normal(mu, std).log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)
        return a, logp.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(dim + 2, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(dim + 2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, z, a):
        za = torch.cat([z, a], -1)
        return self.q1(za), self.q2(za)


class Agent:
    def __init__(self, dim=16):
        self.enc = nn.Sequential(nn.Conv2d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, dim), nn.LayerNorm(dim))
        self.actor, self.critic = Actor(dim), Critic(dim)
        self.enc_t, self.critic_t = copy.deepcopy(self.enc), copy.deepcopy(self.critic)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.opt_q = torch.optim.Adam([*self.enc.parameters(), *self.critic.parameters()], lr=1e-3)
        self.opt_pi = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.opt_alpha = torch.optim.Adam([self.log_alpha], lr=1e-2)

    @torch.no_grad()
    def act(self, obs):
        return self.actor(self.enc(obs[None]))[0][0]

    def update(self, s, a, r, s2, done):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2 = self.actor(self.enc(s2))
            q_next = torch.min(*self.critic_t(self.enc_t(s2), a2)) - alpha * logp2
            y = r + GAMMA * (1 - done) * q_next

        z = self.enc(s)
        q1, q2 = self.critic(z, a)
        q_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
        self.opt_q.zero_grad()
        q_loss.backward()
        self.opt_q.step()

        # same features again, but the policy must not shape them
        z = z.detach()
        self.critic.requires_grad_(False)
        pi, logp = self.actor(z)
        pi_loss = (alpha * logp - torch.min(*self.critic(z, pi))).mean()
        self.opt_pi.zero_grad()
        pi_loss.backward()
        self.opt_pi.step()
        self.critic.requires_grad_(True)

        alpha_loss = -(self.log_alpha * (logp.detach() + TARGET_ENTROPY)).mean()
        self.opt_alpha.zero_grad()
        alpha_loss.backward()
        self.opt_alpha.step()

        with torch.no_grad():
            for net, tgt in ((self.enc, self.enc_t), (self.critic, self.critic_t)):
                for p, q in zip(net.parameters(), tgt.parameters()):
                    q.lerp_(p, TAU)
        return q_loss.item(), pi_loss.item()


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    env, agent, memory = LightWorld(), Agent(), []
    obs, losses = env.reset(), (0.0, 0.0)
    for t in range(160):
        action = agent.act(obs)
        nxt, reward, done = env.step(action)
        memory.append((obs, action, torch.tensor([reward]), nxt, torch.tensor([float(done)])))
        obs = env.reset() if done else nxt
        if len(memory) >= 64 and t % 2 == 0:
            losses = agent.update(*(torch.stack(c) for c in zip(*random.sample(memory, 32))))
    print("q %.3f  pi %.3f  alpha %.3f" % (*losses, agent.log_alpha.exp().item()))
