# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = saved_log_probs, policy.saved_log_probs, self.saved_log_probs, log_prob, policy_loss
import argparse
import math
from itertools import count

import numpy as np

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


parser = argparse.ArgumentParser(description="REINFORCE, marble on a tray")
parser.add_argument("--gamma", type=float, default=0.97)
parser.add_argument("--seed", type=int, default=11)
parser.add_argument("--episodes", type=int, default=8)
parser.add_argument("--log-interval", type=int, default=2)
args = parser.parse_args()


class Tray:
    """Keep a marble near the middle by tilting left, right or not at all."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.x, self.v = self.rng.uniform(-0.3, 0.3), 0.0
        return np.array([self.x, self.v], dtype=np.float32)

    def step(self, action):
        self.v += 0.15 * (action - 1) + 0.25 * math.sin(self.x) + self.rng.normal(0, 0.02)
        self.x += 0.3 * self.v
        done = abs(self.x) > 1.0
        return np.array([self.x, self.v], dtype=np.float32), 1.0 - abs(self.x), done


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(2, 48)
        self.dropout = nn.Dropout(p=0.2)
        self.affine2 = nn.Linear(48, 3)

        self.saved_log_probs = []  # expect: place
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


env = Tray(args.seed)
torch.manual_seed(args.seed)
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    m = Categorical(policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))  # expect: place
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):  # expect: place
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()  # expect: place
    optimizer.step()
    policy.rewards = []  # expect: place


def main():
    running_reward = 1
    for i_episode in range(args.episodes):
        state, ep_reward = env.reset(), 0
        for t in count(1):
            action = select_action(state)
            state, reward, done = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
            if done or t == 40:
                break

        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        finish_episode()
        if i_episode % args.log_interval == 0:
            print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}".format(
                i_episode, ep_reward, running_reward))


if __name__ == "__main__":
    main()
