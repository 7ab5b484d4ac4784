import random
from collections import deque
from typing import NamedTuple

import torch
from torch import nn


class Transition(NamedTuple):
    state: torch.Tensor
    action: int
    reward: float
    next_state: torch.Tensor


random.seed(0)
torch.manual_seed(0)
memory = deque(maxlen=50)
q_net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
state = torch.randn(3)
for t in range(24):
    action = random.randrange(2) if t % 3 else int(q_net(state).argmax())
    next_state = 0.9 * state + 0.1 * torch.randn(3)
    memory.append(Transition(state, action, float(action == int(state[0] > 0)), next_state))
    state = next_state
    if len(memory) >= 8:
        batch = Transition(*zip(*random.sample(list(memory), 8)))
        q = q_net(torch.stack(batch.state))[torch.arange(8), torch.tensor(batch.action)]
        with torch.no_grad():
            best = q_net(torch.stack(batch.next_state)).max(1).values
        loss = (q - torch.tensor(batch.reward) - 0.9 * best).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
