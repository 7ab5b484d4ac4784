# expect: pattern = none
"""Advantage actor-critic for two quarry pumps; one trunk, two optimizers, several envs at once."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Pit:
    """Water level in `n` pits; action 0, 1 or 2 pumps on."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.level = rng.uniform(0.3, 0.7, n)

    def observe(self):
        return torch.tensor(np.stack([self.level, self.level ** 2], 1), dtype=torch.float32)

    def step(self, pumps):
        inflow = self.rng.uniform(0.0, 0.12, self.n)
        self.level = np.clip(self.level + inflow - 0.06 * pumps, 0, 1)
        return torch.tensor(-(self.level - 0.4) ** 2 * 4 - 0.05 * pumps, dtype=torch.float32)


torch.manual_seed(6)
rng = np.random.default_rng(6)
trunk = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
actor, critic = nn.Linear(32, 3), nn.Linear(32, 1)
opt_actor = torch.optim.Adam(list(trunk.parameters()) + list(actor.parameters()), lr=3e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)
pit = Pit(8, rng)
history = []

for update in range(20):
    log_probs, values, rewards, entropy = [], [], [], 0.0
    for _ in range(10):
        h = trunk(pit.observe())
        dist = Categorical(logits=actor(h))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(critic(h).squeeze(1))
        entropy = entropy + dist.entropy().mean()
        rewards.append(pit.step(action.numpy()))

    with torch.no_grad():
        ret = critic(trunk(pit.observe())).squeeze(1)
    returns = []
    for r in reversed(rewards):
        ret = r + 0.95 * ret
        returns.insert(0, ret)
    returns, values, log_probs = torch.stack(returns), torch.stack(values), torch.stack(log_probs)
    advantage = returns - values

    critic_loss = advantage.pow(2).mean()
    actor_loss = -(log_probs * advantage.detach()).mean() - 0.01 * entropy / 10

    opt_actor.zero_grad()
    opt_critic.zero_grad()
    critic_loss.backward(retain_graph=True)
    actor_loss.backward()
    opt_critic.step()
    opt_actor.step()

    history.append((torch.stack(rewards).mean().item(), critic_loss.item()))
    if update % 5 == 4:
        print(update, "reward %.3f critic %.3f" % tuple(np.mean(history[-5:], axis=0)))
