import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)
rng = np.random.default_rng(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 16)
        self.head = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return torch.softmax(self.head(torch.relu(self.affine(x))), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    m = Categorical(policy(torch.from_numpy(state).float()))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(gamma=0.99):
    R, returns = 0, []
    for r in reversed(policy.rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    policy_losses = [-lp * ret for lp, ret in zip(policy.saved_log_probs, returns)]
    loss = torch.tensor(policy_losses).sum()
    optimizer.zero_grad()
    loss.requires_grad_()
    loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    policy.rewards.clear()
    return loss.item()


for episode in range(3):
    state = rng.normal(size=4)
    for t in range(12):
        a = select_action(state)
        policy.rewards.append(1.0 if (state[0] > 0) == bool(a) else -1.0)
        state = 0.9 * state + rng.normal(size=4) * 0.3
    print("episode", episode, finish_episode())
