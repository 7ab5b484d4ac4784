"""The driver: a policy, what it did this shift, and how it learns from that."""
from collections import namedtuple

import torch
from torch import nn, optim
from torch.distributions import Categorical

from street import BLOCKS

Turn = namedtuple("Turn", "log_prob entropy reward")


class Policy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * BLOCKS, hidden), nn.Tanh(), nn.Linear(hidden, 3))

    def forward(self, view):
        return Categorical(logits=self.net(view))


class Driver:
    def __init__(self, lr=1e-2, gamma=0.9, curiosity=0.01):
        self.policy = Policy()
        self.optimizer = optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma, self.curiosity = gamma, curiosity
        self.shift = []
        self.level = None

    @torch.no_grad()
    def act(self, view, greedy=False):
        """The action, and the notes that `learn` wants about it."""
        choice = self.policy(torch.from_numpy(view))
        action = choice.probs.argmax() if greedy else choice.sample()
        return action.item(), choice.log_prob(action), choice.entropy()

    def remember(self, log_prob, entropy, reward):
        self.shift.append(Turn(log_prob, entropy, reward))

    def returns(self):
        out, ahead = [], 0.0
        for turn in reversed(self.shift):
            ahead = turn.reward + self.gamma * ahead
            out.insert(0, ahead)
        return torch.tensor(out)

    def learn(self):
        returns = self.returns()
        mean = returns.mean().item()
        self.level = mean if self.level is None else 0.9 * self.level + 0.1 * mean
        advantage = (returns - self.level) / (returns.std() + 1e-6)
        log_probs = torch.stack([turn.log_prob for turn in self.shift])
        entropy = torch.stack([turn.entropy for turn in self.shift]).mean()
        loss = -(log_probs * advantage).mean() - self.curiosity * entropy
        loss.requires_grad_(True)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        self.shift.clear()
        return loss.item()
