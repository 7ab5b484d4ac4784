"""REINFORCE with a learned state-value baseline on a toy elevator task."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(1)
rng = np.random.default_rng(1)


class Elevator:
    """Six floors, one passenger. Actions: 0 down, 1 stay, 2 up."""

    def __init__(self, floors=6, max_steps=12):
        self.floors, self.max_steps = floors, max_steps

    def reset(self):
        self.pos = int(rng.integers(self.floors))
        self.goal = int(rng.integers(self.floors))
        self.t = 0
        return self._obs()

    def _obs(self):
        obs = np.zeros(2 * self.floors, dtype=np.float32)
        obs[self.pos] = 1.0
        obs[self.floors + self.goal] = 1.0
        return obs

    def step(self, action):
        self.pos = int(np.clip(self.pos + action - 1, 0, self.floors - 1))
        self.t += 1
        reached = self.pos == self.goal
        reward = 1.0 if reached else -0.05
        return self._obs(), reward, reached or self.t >= self.max_steps


class PolicyNet(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.affine1 = nn.Linear(n_obs, 32)
        self.affine2 = nn.Linear(32, n_act)

    def forward(self, x):
        return F.softmax(self.affine2(torch.tanh(self.affine1(x))), dim=-1)


class EpisodeMemory:
    def __init__(self):
        self.states, self.actions = [], []
        self.log_probs, self.rewards = [], []

    def store(self, state, action, log_prob, reward):
        self.states.append(state)
        self.actions.append(action)
        self.log_probs.append(log_prob.detach())
        self.rewards.append(reward)

    def clear(self):
        del self.states[:]
        del self.actions[:]
        del self.rewards[:]


class Agent:
    def __init__(self, n_obs=12, n_act=3, gamma=0.95):
        self.policy = PolicyNet(n_obs, n_act)
        self.value = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, 1))
        params = list(self.policy.parameters()) + list(self.value.parameters())
        self.optimizer = torch.optim.Adam(params, lr=5e-3)
        self.memory = EpisodeMemory()
        self.gamma = gamma

    def select_action(self, state):
        dist = Categorical(self.policy(torch.from_numpy(state)))
        action = dist.sample()
        return action.item(), dist.log_prob(action)

    def finish_episode(self):
        returns, running = [], 0.0
        for r in reversed(self.memory.rewards):
            running = r + self.gamma * running
            returns.insert(0, running)
        returns = torch.tensor(returns)
        values = self.value(torch.from_numpy(np.stack(self.memory.states))).squeeze(-1)
        advantages = returns - values.detach()

        policy_loss = []
        for log_prob, adv in zip(self.memory.log_probs, advantages):
            policy_loss.append(-log_prob * adv)
        loss = torch.stack(policy_loss).sum() + F.mse_loss(values, returns)

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.memory.clear()


env, agent = Elevator(), Agent()
history = []
for episode in range(40):
    state, done, total = env.reset(), False, 0.0
    while not done:
        action, log_prob = agent.select_action(state)
        next_state, reward, done = env.step(action)
        agent.memory.store(state, action, log_prob, reward)
        state = next_state
        total += reward
    agent.finish_episode()
    history.append(total)
    if (episode + 1) % 10 == 0:
        print(f"episode {episode + 1}: mean return {np.mean(history[-10:]):.3f}")
