"""Discrete soft actor-critic with automatic entropy tuning on a small corridor task."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Corridor:
    """Ten cells, goal on the right; every step costs a little."""

    n_actions = 2

    def __init__(self, length=10, horizon=25):
        self.length, self.horizon = length, horizon

    def _obs(self):
        x = self.pos / (self.length - 1)
        return np.array([x, x * x, self.t / self.horizon], dtype=np.float32)

    def reset(self):
        self.pos, self.t = random.randrange(3), 0
        return self._obs()

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action == 1 else -1), 0, self.length - 1))
        self.t += 1
        done = self.pos == self.length - 1 or self.t >= self.horizon
        reward = 1.0 if self.pos == self.length - 1 else -0.05
        return self._obs(), reward, done


class ReplayMemory:
    def __init__(self, capacity=2000):
        self.data = deque(maxlen=capacity)

    def push(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        return (torch.from_numpy(np.stack(s)), torch.tensor(a).unsqueeze(1),
                torch.tensor(r).unsqueeze(1), torch.from_numpy(np.stack(s2)),
                torch.tensor(d, dtype=torch.float32).unsqueeze(1))

    def __len__(self):
        return len(self.data)


def mlp(inp, out, hidden=32):
    return nn.Sequential(nn.Linear(inp, hidden), nn.ReLU(), nn.Linear(hidden, out))


class TwinQ(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.q1, self.q2 = mlp(obs_dim, n_actions), mlp(obs_dim, n_actions)

    def forward(self, s):
        return self.q1(s), self.q2(s)


class SACAgent:
    def __init__(self, obs_dim, n_actions, gamma=0.98, tau=0.02, lr=3e-3):
        self.gamma, self.tau = gamma, tau
        self.actor = mlp(obs_dim, n_actions)
        self.critic = TwinQ(obs_dim, n_actions)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)

        self.target_entropy = 0.6 * np.log(n_actions)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha = self.log_alpha.exp()
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    @torch.no_grad()
    def act(self, obs):
        logits = self.actor(torch.from_numpy(obs))
        return torch.distributions.Categorical(logits=logits).sample().item()

    def policy(self, s):
        log_p = F.log_softmax(self.actor(s), dim=-1)
        return log_p.exp(), log_p

    def update(self, batch):
        s, a, r, s2, done = batch
        with torch.no_grad():
            p2, log_p2 = self.policy(s2)
            q_next = torch.min(*self.critic_target(s2))
            v_next = (p2 * (q_next - self.alpha * log_p2)).sum(1, keepdim=True)
            target = r + self.gamma * (1 - done) * v_next
        q1, q2 = self.critic(s)
        critic_loss = F.mse_loss(q1.gather(1, a), target) + F.mse_loss(q2.gather(1, a), target)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        p, log_p = self.policy(s)
        with torch.no_grad():
            q = torch.min(*self.critic(s))
        actor_loss = (p * (self.alpha.detach() * log_p - q)).sum(1).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        entropy = -(p * log_p).sum(1).detach()
        alpha_loss = (self.alpha * (entropy - self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward(retain_graph=True)
        self.alpha_optim.step()

        for w, wt in zip(self.critic.parameters(), self.critic_target.parameters()):
            wt.data.mul_(1 - self.tau).add_(self.tau * w.data)
        return critic_loss.item(), actor_loss.item(), alpha_loss.item()


def main():
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    env, memory = Corridor(), ReplayMemory()
    agent = SACAgent(3, env.n_actions)
    for episode in range(8):
        obs, done, ret = env.reset(), False, 0.0
        while not done:
            action = agent.act(obs)
            nxt, reward, done = env.step(action)
            memory.push(obs, action, reward, nxt, done)
            obs, ret = nxt, ret + reward
            if len(memory) >= 32:
                losses = agent.update(memory.sample(32))
        print(f"episode {episode} return {ret:.2f} alpha {agent.log_alpha.exp().item():.3f}")


if __name__ == "__main__":
    main()
