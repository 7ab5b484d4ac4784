import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, n_obs, n_actions=3):
        super().__init__()
        self.affine = nn.Linear(n_obs, 32)
        self.action_head = nn.Linear(32, n_actions)
        self.value_head = nn.Linear(32, 1)

    def forward(self, obs):
        h = torch.tanh(self.affine(obs))
        return F.softmax(self.action_head(h), dim=-1), self.value_head(h).squeeze(-1)


class Memory:
    def __init__(self):
        self.log_probs = []
        self.values = []
        self.rewards = []

    def push(self, log_prob, value):
        self.log_probs.append(log_prob)  # expect: place
        self.values.append(value)  # expect: place

    def clear(self):
        # called after every update
        self.rewards = []  # expect: place


class ActorCritic:
    def __init__(self, n_obs, lr=3e-3, gamma=0.95):
        self.policy = Policy(n_obs)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.memory = Memory()
        self.gamma = gamma

    def select_action(self, obs):
        probs, value = self.policy(torch.from_numpy(obs))
        dist = Categorical(probs)
        action = dist.sample()
        self.memory.push(dist.log_prob(action), value)
        return action.item()

    def finish_episode(self):
        returns, R = [], 0.0
        for r in reversed(self.memory.rewards):
            R = r + self.gamma * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        policy_loss, value_loss = [], []
        for log_prob, value, R in zip(self.memory.log_probs, self.memory.values, returns):  # expect: place
            advantage = R - value.item()
            policy_loss.append(-log_prob * advantage)
            value_loss.append(F.smooth_l1_loss(value, R))
        loss = torch.stack(policy_loss).sum() + torch.stack(value_loss).sum()
        self.optimizer.zero_grad()
        loss.backward()  # expect: place
        self.optimizer.step()
        self.memory.clear()
        return loss.item()
