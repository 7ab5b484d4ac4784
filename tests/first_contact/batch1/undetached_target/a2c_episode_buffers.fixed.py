"""Advantage actor-critic with separate networks on a corridor; updates once an episode."""
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

Step = namedtuple("Step", "log_prob value reward entropy")
GAMMA = 0.95


class Corridor:
    """Walk right to reach the end; the observation is a noisy one-hot position."""

    def __init__(self, length=6, limit=14, seed=5):
        self.length, self.limit = length, limit
        self.rng = np.random.RandomState(seed)

    def _obs(self):
        o = np.zeros(self.length, dtype=np.float32)
        o[self.pos] = 1.0
        return torch.from_numpy(o + 0.01 * self.rng.randn(self.length).astype(np.float32))

    def reset(self):
        self.pos, self.t = 0, 0
        return self._obs()

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action == 1 else -1), 0, self.length - 1))
        self.t += 1
        won = self.pos == self.length - 1
        return self._obs(), 1.0 if won else -0.05, won or self.t >= self.limit


def play(env, actor, critic):
    episode, obs, done = [], env.reset(), False
    while not done:
        dist = Categorical(logits=actor(obs))
        action = dist.sample()
        value = critic(obs).squeeze(-1)
        obs, reward, done = env.step(action.item())
        episode.append(Step(dist.log_prob(action), value, reward, dist.entropy()))
    return episode


def returns_of(episode):
    out, running = [], 0.0
    for step in reversed(episode):
        running = step.reward + GAMMA * running
        out.insert(0, running)
    return torch.tensor(out)


def main():
    torch.manual_seed(5)
    env = Corridor()
    actor = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    actor_opt = torch.optim.Adam(actor.parameters(), lr=5e-3)
    critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)

    for ep in range(6):
        episode = play(env, actor, critic)
        returns = returns_of(episode)
        values = torch.stack([s.value for s in episode])
        log_probs = torch.stack([s.log_prob for s in episode])
        entropy = torch.stack([s.entropy for s in episode]).mean()

        advantage = returns - values
        critic_loss = advantage.pow(2).mean()
        actor_loss = -(log_probs * advantage.detach()).mean() - 0.01 * entropy

        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()

        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        print(f"episode {ep}: length {len(episode)}, return {returns[0].item():+.2f}")


if __name__ == "__main__":
    main()
