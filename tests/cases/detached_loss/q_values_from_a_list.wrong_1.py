import random
from collections import deque, namedtuple

import torch
from torch import nn, optim

Transition = namedtuple("Transition", "state action reward next_state done")


class ReplayMemory:
    def __init__(self, capacity):
        self.buf = deque(maxlen=capacity)

    def push(self, *args):
        self.buf.append(Transition(*args))

    def sample(self, n):
        return random.sample(self.buf, n)


class DQNAgent:
    def __init__(self, n_state, n_action, gamma=0.95):
        self.gamma, self.n_action = gamma, n_action
        self.net = nn.Sequential(nn.Linear(n_state, 24), nn.ReLU(), nn.Linear(24, n_action))
        self.target = nn.Sequential(nn.Linear(n_state, 24), nn.ReLU(), nn.Linear(24, n_action))
        self.target.load_state_dict(self.net.state_dict())
        self.optimizer = optim.Adam(self.net.parameters(), lr=1e-3)
        self.memory = ReplayMemory(200)

    def act(self, s, eps=0.3):
        if random.random() < eps:
            return random.randrange(self.n_action)
        with torch.no_grad():
            return self.net(s).argmax().item()

    def learn(self, batch_size=8):
        batch = self.memory.sample(batch_size)
        q_values = torch.tensor([self.net(t.state)[t.action] for t in batch], requires_grad=True)
        targets = []
        for t in batch:
            with torch.no_grad():
                boot = 0.0 if t.done else self.target(t.next_state).max().item()
            targets.append(t.reward + self.gamma * boot)
        loss = nn.functional.smooth_l1_loss(q_values, torch.tensor(targets))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


random.seed(0)
torch.manual_seed(0)
agent = DQNAgent(4, 2)
state = torch.randn(4)
for step in range(20):
    action = agent.act(state)
    nxt, reward = torch.randn(4), random.random()
    agent.memory.push(state, action, reward, nxt, step % 10 == 9)
    state = nxt
    if len(agent.memory.buf) >= 12:
        print(step, agent.learn())
