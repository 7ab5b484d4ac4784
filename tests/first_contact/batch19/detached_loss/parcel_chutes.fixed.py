"""Policy gradient for a sorting hall: which chute gets the next parcel, so that none runs over."""
import random
from collections import namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

Step = namedtuple("Step", "log_prob reward")


class SortingHall:
    """Four chutes that empty at their own speed; a parcel into a full chute costs."""

    def __init__(self, rng):
        self.rng = rng
        self.speed = [0.15, 0.2, 0.3, 0.4]

    def reset(self):
        self.fill = [0.0] * 4
        self.t = 0
        return self.observe()

    def observe(self):
        self.size = self.rng.uniform(0.1, 0.5)
        return torch.tensor(self.fill + [self.size], dtype=torch.float32)

    def step(self, chute):
        self.fill[chute] += self.size
        reward = 1.0 if self.fill[chute] <= 1.0 else -2.0
        self.fill = [max(0.0, min(f, 1.2) - s) for f, s in zip(self.fill, self.speed)]
        self.t += 1
        return self.observe(), reward, self.t >= 20


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(5, 32)
        self.affine2 = nn.Linear(32, 4)

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.affine1(x))), dim=-1)


class Agent:
    def __init__(self, lr=1e-2, gamma=0.97):
        self.policy = Policy()
        self.optimizer = optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.steps = []

    def select_action(self, state):
        dist = torch.distributions.Categorical(self.policy(state))
        action = dist.sample()
        return action.item(), dist.log_prob(action)

    def remember(self, log_prob, reward):
        self.steps.append(Step(log_prob, reward))

    def finish_episode(self):
        returns, running = [], 0.0
        for step in reversed(self.steps):
            running = step.reward + self.gamma * running
            returns.insert(0, running)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        log_probs = torch.stack([step.log_prob for step in self.steps])
        policy_loss = -(log_probs * returns).sum()
        self.optimizer.zero_grad()
        policy_loss.backward()
        self.optimizer.step()
        self.steps.clear()
        return policy_loss.item()


def main():
    torch.manual_seed(31)
    rng = random.Random(31)
    hall, agent = SortingHall(rng), Agent()
    running_reward = 0.0
    for episode in range(15):
        state, done, total = hall.reset(), False, 0.0
        while not done:
            action, log_prob = agent.select_action(state)
            state, reward, done = hall.step(action)
            agent.remember(log_prob, reward)
            total += reward
        loss = agent.finish_episode()
        running_reward = 0.9 * running_reward + 0.1 * total
        if episode % 5 == 4:
            print(f"episode {episode + 1}\tlast {total:.1f}\tmean {running_reward:.2f}\tloss {loss:.3f}")


if __name__ == "__main__":
    main()
