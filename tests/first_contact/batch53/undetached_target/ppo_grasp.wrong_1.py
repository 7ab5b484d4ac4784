"""PPO for choosing the grip force from a tactile patch (one-step episodes)."""
from collections import namedtuple

import torch
from torch import nn
from torch.distributions import Normal

Rollout = namedtuple("Rollout", "touch action log_probs advantage returns")


class TactileEnv:
    """3x3 taxel image of an object of unknown weight; slip if too soft, crush if too hard."""

    def __init__(self, n, seed):
        self.n = n
        self.g = torch.Generator().manual_seed(seed)

    def reset(self):
        self.weight = torch.rand(self.n, 1, generator=self.g) * 2 - 1
        base = torch.linspace(0.2, 1.0, 9)
        self.obs = self.weight * base + 0.05 * torch.randn(self.n, 9, generator=self.g)
        return self.obs

    def squeeze(self, force):
        ideal = 0.8 * self.weight.squeeze(1) + 0.3
        return -(force.squeeze(1) - ideal).pow(2)


class GraspAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 32), nn.Tanh())
        self.mu = nn.Linear(32, 1)
        self.v = nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def policy(self, touch):
        z = self.body(touch)
        return Normal(self.mu(z), self.log_std.exp()), self.v(z).squeeze(1)


def collect(env, agent):
    touch = env.reset()
    dist, value = agent.policy(touch)
    action = dist.sample()
    logp = dist.log_prob(action).sum(1)
    reward = env.squeeze(action)
    adv = reward - value.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    return Rollout(touch, action, logp, adv, reward)


def ppo_losses(agent, roll, idx, clip):
    dist, value = agent.policy(roll.touch[idx])
    new = dist.log_prob(roll.action[idx]).sum(1)
    old = roll.log_probs[idx]
    ratio = torch.exp(new - old)
    a = roll.advantage[idx]
    pg = -torch.min(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a).mean()
    vf = (value - roll.returns[idx]).pow(2).mean()
    return pg, vf, dist.entropy().mean()


def update(agent, opt, roll, passes=3, minibatches=4, clip=0.2):
    n = roll.touch.shape[0]
    for _ in range(passes):
        for idx in torch.randperm(n).chunk(minibatches):
            pg, vf, ent = ppo_losses(agent, roll, idx, clip)
            total = pg + 0.5 * vf - 0.001 * ent
            opt.zero_grad()
            total.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
            opt.step()


def main():
    torch.manual_seed(5)
    env, agent = TactileEnv(64, seed=5), GraspAgent()
    opt = torch.optim.Adam(agent.parameters(), lr=4e-3)
    for it in range(20):
        roll = collect(env, agent)
        update(agent, opt, roll)
        if it % 5 == 0 or it == 19:
            print(f"iter {it:2d} mean reward {roll.returns.mean().item():.3f} std {agent.log_std.exp().item():.3f}")


if __name__ == "__main__":
    main()
