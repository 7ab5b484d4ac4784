# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = agent.kept, self.kept
import random

import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(0)


# paste: begin
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 24)
        self.head = nn.Linear(24, 2)
        self.kept, self.gains = [], []

    def forward(self, seen):
        return F.softmax(self.head(F.relu(self.body(seen))), dim=-1)


def choose(seen):
    spread = Categorical(agent(torch.as_tensor(seen).float().unsqueeze(0)))
    move = spread.sample()
    agent.kept.append(spread.log_prob(move))  # expect: place
    return move.item()


def learn():
    terms, later = [], 0.0
    for gain in reversed(agent.gains):
        later = gain + 0.9 * later
        terms.insert(0, later)
    loss = torch.stack([-one * term for one, term in zip(agent.kept, terms)]).sum()
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    del agent.gains[:]
# paste: end


agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=1e-2)
for episode in range(3):
    for _ in range(4):
        choose([random.random() for _ in range(3)])
        agent.gains.append(random.random())
    learn()
