# expect: pattern = none
# expect: raises = nothing
"""Soft actor-critic for a planar pushing arm, on logged random transitions."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

OBS, ACT = 6, 2


def net(inp, out, width=32):
    return nn.Sequential(nn.Linear(inp, width), nn.ReLU(inplace=True), nn.Linear(width, width), nn.ReLU(inplace=True), nn.Linear(width, out))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = net(OBS, 2 * ACT)

    def forward(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        std = log_std.clamp(-4, 1).exp()
        raw = mean + std * torch.randn_like(mean)
        act = torch.tanh(raw)
        logp = torch.distributions.Normal(mean, std).log_prob(raw)
        logp = logp - torch.log(1 - act.pow(2) + 1e-6)
        return act, logp.sum(dim=-1)


class TwinCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = net(OBS + ACT, 1), net(OBS + ACT, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.one(x).squeeze(-1), self.two(x).squeeze(-1)


class Agent:
    def __init__(self, gamma=0.9, tau=0.02, lr=2e-3):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = Actor(), TwinCritic()
        self.target = copy.deepcopy(self.critic)
        self.log_alpha = torch.tensor(-1.0, requires_grad=True)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.opt_alpha = torch.optim.Adam([self.log_alpha], lr=lr)

    def critic_loss(self, obs, act, reward, nxt):
        with torch.no_grad():
            act2, logp2 = self.actor(nxt)
            q2 = torch.minimum(*self.target(nxt, act2)) - self.log_alpha.exp() * logp2
            goal = reward + self.gamma * q2
        q_one, q_two = self.critic(obs, act)
        return F.mse_loss(q_one, goal) + F.mse_loss(q_two, goal)

    def update(self, batch):
        obs = batch[0]
        q_loss = self.critic_loss(*batch)
        self.opt_critic.zero_grad()
        q_loss.backward()
        self.opt_critic.step()

        self.critic.requires_grad_(False)       # the critic only hands the gradient on
        act, logp = self.actor(obs)
        pi_loss = (self.log_alpha.exp().detach() * logp - torch.minimum(*self.critic(obs, act))).mean()
        self.opt_actor.zero_grad()
        pi_loss.backward()
        self.opt_actor.step()
        self.critic.requires_grad_(True)

        alpha_loss = -(self.log_alpha * (logp.detach() - ACT)).mean()
        self.opt_alpha.zero_grad()
        alpha_loss.backward()
        self.opt_alpha.step()

        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.critic.parameters()):
                slow.lerp_(fast, self.tau)
        return q_loss.item(), pi_loss.item()


def pushes(n, rng):
    """block (x, y), gripper (x, y), goal (x, y); the block follows the gripper when near"""
    obs = torch.rand(n, OBS, generator=rng) * 2 - 1
    act = torch.rand(n, ACT, generator=rng) * 2 - 1
    block, hand, goal = obs.split(2, dim=1)
    near = torch.exp(-4 * (block - hand).pow(2).sum(dim=1, keepdim=True))
    nxt = torch.cat([block + 0.3 * near * act, hand + 0.3 * act, goal], dim=1)
    reward = -(nxt[:, :2] - goal).norm(dim=1) - 0.3 * (nxt[:, 2:4] - nxt[:, :2]).norm(dim=1)
    return obs, act, reward, nxt


if __name__ == "__main__":
    torch.manual_seed(3)
    rng = torch.Generator().manual_seed(4)
    replay = pushes(512, rng)
    agent = Agent()
    for it in range(80):
        rows = torch.randint(0, 512, (64,), generator=rng)
        q_loss, pi_loss = agent.update([column[rows] for column in replay])
        if it % 20 == 19:
            print(f"{it + 1:3d}  critic {q_loss:.3f}  actor {pi_loss:.3f}  alpha {agent.log_alpha.exp().item():.3f}")
