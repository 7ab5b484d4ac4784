"""Turn and heat eggs: advantage actor-critic over a rack of simulated incubators."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Setup:
    rack: int = 16
    horizon: int = 12
    updates: int = 25
    gamma: float = 0.95
    lam: float = 0.9
    lr: float = 4e-3
    value_weight: float = 0.5
    entropy_weight: float = 0.01


class Rack:
    """Temperature, humidity and hours since turning; actions: nothing, heat, mist, turn."""

    def __init__(self, count, gen):
        self.gen, self.count = gen, count
        self.state = torch.stack([torch.randn(count, generator=gen),
                                  torch.randn(count, generator=gen),
                                  torch.rand(count, generator=gen)], 1)

    def step(self, action):
        warm, damp, stale = self.state.unbind(1)
        warm = 0.9 * warm - 0.15 + 0.5 * (action == 1) + 0.1 * torch.randn(self.count, generator=self.gen)
        damp = 0.9 * damp - 0.1 + 0.5 * (action == 2) - 0.05 * (action == 1)
        stale = torch.where(action == 3, torch.zeros_like(stale), stale + 0.15)
        self.state = torch.stack([warm, damp, stale], 1)
        return self.state, -(warm ** 2 + 0.5 * damp ** 2 + stale.clamp(max=2) ** 2)


def mlp(out):
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, out))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = mlp(4), mlp(1)

    def forward(self, state):
        return Categorical(logits=self.actor(state)), self.critic(state).squeeze(-1)


def generalised_returns(rewards, values, last, setup):
    """Lambda-returns, newest first; the values serve as numbers only."""
    out, follow, after = [], last, last
    for reward, value in zip(reversed(rewards), reversed(values)):
        follow = reward + setup.gamma * ((1 - setup.lam) * after + setup.lam * follow)
        after = value
        out.append(follow)
    return torch.stack(out[::-1])


def collect(agent, rack, setup):
    logps, values, rewards, entropies = [], [], [], []
    state = rack.state
    for _ in range(setup.horizon):
        policy, value = agent(state)
        action = policy.sample()
        state, reward = rack.step(action)
        logps.append(policy.log_prob(action))
        values.append(value)
        rewards.append(reward)
        entropies.append(policy.entropy())
    with torch.no_grad():
        last = agent(state)[1]
    returns = generalised_returns(rewards, [v.detach() for v in values], last, setup)
    return torch.stack(logps), torch.stack(values), returns, torch.stack(entropies).mean()


def main(setup=Setup()):
    torch.manual_seed(8)
    agent = Agent()
    rack = Rack(setup.rack, torch.Generator().manual_seed(8))
    optimizer = torch.optim.Adam(agent.parameters(), lr=setup.lr)
    smooth = None
    for update in range(setup.updates):
        logps, values, returns, entropy = collect(agent, rack, setup)
        advantage = returns - values
        policy_loss = -(logps.detach() * advantage).mean()
        value_loss = advantage.pow(2).mean()
        loss = policy_loss + setup.value_weight * value_loss - setup.entropy_weight * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 5.0)
        optimizer.step()
        level = returns.mean().item()
        smooth = level if smooth is None else 0.8 * smooth + 0.2 * level
        if update % 6 == 0:
            print(f"{update:3d} return {smooth:7.3f} value error {value_loss.item():.3f} "
                  f"entropy {entropy.item():.3f}")


if __name__ == "__main__":
    main()
