# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
# expect: carrier = values
import numpy as np
import torch
from torch import nn
from collections import deque


class Agent:
    def __init__(self):
        self.q = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.q.parameters(), lr=0.01)
        self.buffer = deque(maxlen=50)

    def act(self, s):
        values = self.q(torch.as_tensor(s, dtype=torch.float32))
        return int(np.argmax(values.numpy()))  # expect: place

    def learn(self):
        s, a, r = zip(*self.buffer)
        s = torch.as_tensor(np.stack(s), dtype=torch.float32)
        pred = self.q(s).gather(1, torch.tensor(a)[:, None]).squeeze(1)
        loss = (pred - torch.tensor(r)).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


rng = np.random.default_rng(0)
torch.manual_seed(0)
agent = Agent()
for t in range(8):
    s = rng.normal(size=4)
    a = agent.act(s)
    agent.buffer.append((s, a, float(s.sum())))
    if t % 2:
        agent.learn()
