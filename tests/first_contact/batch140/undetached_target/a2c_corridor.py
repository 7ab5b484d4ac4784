"""Advantage actor-critic with a one-step bootstrap on a small corridor."""
# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = td_target, next_values
import logging
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger("a2c")

Transition = namedtuple("Transition", "obs action reward next_obs done")


@dataclass
class A2CConfig:
    length: int = 7
    hidden: int = 32
    gamma: float = 0.95
    lr: float = 3e-3
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    rollout: int = 16
    updates: int = 25
    seed: int = 21


class Corridor:
    """Walk right to the goal; every other move costs a little."""

    def __init__(self, length):
        self.length = length
        self.reset()

    def _observe(self):
        obs = np.zeros(self.length, dtype=np.float32)
        obs[self.pos] = 1.0
        return obs

    def reset(self):
        self.pos, self.clock = 0, 0
        return self._observe()

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action == 1 else -1), 0, self.length - 1))
        self.clock += 1
        goal = self.pos == self.length - 1
        return self._observe(), 1.0 if goal else -0.02, goal or self.clock >= 40


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, hidden, n_actions=2):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, n_actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, obs):
        features = self.torso(obs)
        return Categorical(logits=self.policy(features)), self.value(features).squeeze(-1)


class A2CAgent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = ActorCritic(cfg.length, cfg.hidden)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def act(self, obs):
        dist, _ = self.model(torch.from_numpy(obs))
        return int(dist.sample())

    def update(self, transitions):
        batch = Transition(*zip(*transitions))
        obs = torch.from_numpy(np.stack(batch.obs))
        next_obs = torch.from_numpy(np.stack(batch.next_obs))
        actions = torch.tensor(batch.action)
        rewards = torch.tensor(batch.reward)
        not_done = 1.0 - torch.tensor(batch.done, dtype=torch.float32)

        dist, values = self.model(obs)
        _, next_values = self.model(next_obs)  # expect: place
        td_target = rewards + self.cfg.gamma * next_values * not_done  # expect: place
        advantage = td_target - values  # expect: place
        policy_loss = -(dist.log_prob(actions) * advantage.detach()).mean()
        value_loss = advantage.pow(2).mean()  # expect: place
        loss = policy_loss + self.cfg.value_coef * value_loss - self.cfg.entropy_coef * dist.entropy().mean()

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return policy_loss.item(), value_loss.item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    env, agent = Corridor(cfg.length), A2CAgent(cfg)
    returns, episode_return, obs = deque(maxlen=20), 0.0, env.reset()
    for update in range(cfg.updates):
        rollout = []
        for _ in range(cfg.rollout):
            action = agent.act(obs)
            next_obs, reward, done = env.step(action)
            rollout.append(Transition(obs, action, reward, next_obs, done))
            episode_return += reward
            obs = next_obs
            if done:
                returns.append(episode_return)
                episode_return, obs = 0.0, env.reset()
        policy_loss, value_loss = agent.update(rollout)
        if update % 5 == 0:
            logger.info("%d pi %.4f v %.4f return %.2f", update, policy_loss, value_loss, np.mean(returns or [0.0]))


if __name__ == "__main__":
    main(A2CConfig())
