# expect: pattern = undetached-target
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantages, returns, rollout, batch, advantage, values
# PPO in functions: the advantages come from the critic, with its graph, and serve all epochs.
import torch
import torch.nn as nn
from torch.distributions import Normal
from torch.utils.data import BatchSampler, SubsetRandomSampler


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(torch.zeros(1))
        self.critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def evaluate(self, obs, act):
        dist = Normal(self.mean(obs), self.log_std.exp())
        return dist.log_prob(act).sum(-1), dist.entropy().sum(-1), self.critic(obs).squeeze(-1)


def rollout(policy, n=24):
    obs = torch.randn(n, 3)
    with torch.no_grad():
        act = policy.mean(obs) + policy.log_std.exp() * torch.randn(n, 1)
        logp, _, _ = policy.evaluate(obs, act)
    reward = -(act.squeeze(-1) - obs.sum(-1)).pow(2)
    return obs, act, logp, reward


def gae(rewards, values, gamma=0.9, lam=0.8):
    advantages, last = [], 0.0
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(values) else 0.0
        last = rewards[t] + gamma * following - values[t] + gamma * lam * last
        advantages.append(last)
    return torch.stack(advantages[::-1])  # expect: place


def update(policy, optimizer, data, epochs=2, size=8, clip=0.2):
    obs, act, old_logp, reward = data
    values = policy.critic(obs).squeeze(-1)  # expect: place
    advantages = gae(reward, values)  # expect: place
    returns = (advantages + values).detach()
    for _ in range(epochs):
        for idx in BatchSampler(SubsetRandomSampler(range(len(obs))), size, drop_last=True):
            logp, entropy, value = policy.evaluate(obs[idx], act[idx])
            ratio = (logp - old_logp[idx]).exp()
            adv = advantages[idx]  # expect: place
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            pi = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
            loss = pi + 0.5 * (returns[idx] - value).pow(2).mean() - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
    return loss.item()


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for it in range(2):
    print(it, update(policy, optimizer, rollout(policy)))
