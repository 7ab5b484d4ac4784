# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.hidden, agent.hidden, hidden
# A recurrent agent that learns every few steps, and forgets only between episodes.
import random
from collections import deque

import torch
from torch import nn


class DRQN(nn.Module):
    def __init__(self, obs, actions, width=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, width), nn.ReLU())
        self.memory = nn.GRUCell(width, width)
        self.value = nn.Linear(width, actions)

    def forward(self, obs, hidden):
        hidden = self.memory(self.body(obs), hidden)
        return self.value(hidden), hidden


class Agent:
    def __init__(self, every=3, gamma=0.9):
        self.net = DRQN(2, 3)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.every, self.gamma = every, gamma
        self.pending = deque()
        self.reset()

    def reset(self):
        self.hidden = torch.zeros(1, 12)
        self.pending.clear()

    def act(self, obs):
        q, self.hidden = self.net(obs, self.hidden)  # expect: place
        action = random.randrange(3) if random.random() < 0.2 else int(q.argmax())
        self.pending.append([q[0, action], None, None])
        return action

    def reward(self, r, following):
        with torch.no_grad():
            bootstrap = self.net(following, self.hidden)[0].max()
        self.pending[-1][1:] = [r, bootstrap]
        if len(self.pending) == self.every:
            self.learn()

    def learn(self):
        errors = [(q - (r + self.gamma * b)) ** 2 for q, r, b in self.pending]
        self.optim.zero_grad()
        torch.stack(errors).mean().backward()  # expect: place
        self.optim.step()
        self.pending.clear()


def episode(agent, steps=9):
    agent.reset()
    obs, total = torch.randn(1, 2), 0.0
    for _ in range(steps):
        action = agent.act(obs)
        r = float(action == int(obs[0, 0] > 0))
        obs = torch.randn(1, 2)
        agent.reward(r, obs)
        total += r
    return total


random.seed(0)
torch.manual_seed(0)
agent = Agent()
for e in range(2):
    print(e, episode(agent))
