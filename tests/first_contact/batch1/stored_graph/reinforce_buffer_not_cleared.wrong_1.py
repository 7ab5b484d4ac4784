import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(543)
rng = np.random.default_rng(543)


class Gather:
    """Three bins fill at random; the agent empties one each turn."""

    def reset(self):
        self.bins, self.turn = rng.random(3), 0
        return self.bins.astype(np.float32)

    def step(self, action):
        reward = float(self.bins[action])
        self.bins[action] = 0.0
        self.bins = np.clip(self.bins + rng.random(3) * np.array([0.1, 0.2, 0.4]), 0, 1)
        self.turn += 1
        return self.bins.astype(np.float32), reward, self.turn >= 8, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(3, 24)
        self.dropout = nn.Dropout(p=0.2)
        self.affine2 = nn.Linear(24, 3)
        self.saved_log_probs = []
        self.entropies = []
        self.rewards = []

    def forward(self, x):
        return Categorical(logits=self.affine2(torch.relu(self.dropout(self.affine1(x)))))

    def select_action(self, state):
        dist = self(torch.from_numpy(state).unsqueeze(0))
        action = dist.sample()
        self.saved_log_probs.append(dist.log_prob(action).detach())
        self.entropies.append(dist.entropy())
        return action.item()


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def finish_episode(gamma=0.9):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_loss = [-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    loss = torch.cat(policy_loss).sum() - 0.02 * torch.cat(policy.entropies).sum()
    loss.backward()
    optimizer.step()
    del policy.entropies[:]
    return loss.item()


if __name__ == "__main__":
    env = Gather()
    running = 0.0
    for episode in range(5):
        state, done, ep_reward = env.reset(), False, 0.0
        while not done:
            action = policy.select_action(state)
            state, reward, done, _ = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
        running = 0.9 * running + 0.1 * ep_reward
        print("episode {}\treward {:.2f}\tloss {:.3f}\trunning {:.2f}".format(episode, ep_reward, finish_episode(), running))
