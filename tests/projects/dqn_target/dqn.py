import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import tyro
from dataclasses import dataclass


@dataclass
class Args:
    exp_name: str
    env_id: str = "CartPole-v1"
    total_timesteps: int = 400
    batch_size: int = 16
    gamma: float = 0.99


args = tyro.cli(Args)
env = gym.make(args.env_id)
q = nn.Sequential(nn.Linear(env.observation_space.shape[0], 32), nn.ReLU(), nn.Linear(32, env.action_space.n))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=1000)
obs, _ = env.reset(seed=1)
for step in range(args.total_timesteps):
    action = env.action_space.sample()
    next_obs, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, next_obs, terminated))
    obs = next_obs
    if terminated or truncated:
        obs, _ = env.reset()
    if len(memory) >= args.batch_size:
        s, a, r, n, d = map(np.array, zip(*random.sample(memory, args.batch_size)))
        with torch.no_grad():
            target = torch.tensor(r) + args.gamma * q(torch.tensor(n)).max(1).values * (1 - torch.tensor(d).float())
            value = q(torch.tensor(s)).gather(1, torch.tensor(a).view(-1, 1)).squeeze(1)
        loss = nn.functional.mse_loss(value.float(), target.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
