# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.hx, self.cx
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.lstm = nn.LSTMCell(4, 8)
        self.pi = nn.Linear(8, 2)
        self.optimizer = optim.Adam(self.pi.parameters())
        self.hx = torch.zeros(1, 8)
        self.cx = torch.zeros(1, 8)

    # paste: begin
    def update(self, obs, advantage):
        self.hx, self.cx = self.lstm(obs, (self.hx, self.cx))  # expect: place
        logits = self.pi(self.hx)
        log_prob = F.log_softmax(logits, dim=-1)[0, 0]
        policy_loss = -(log_prob * advantage)
        self.optimizer.zero_grad()
        policy_loss.backward()  # expect: place
        self.optimizer.step()

    # paste: end


a = Agent()
for _ in range(2):
    a.update(torch.randn(1, 4), 1.5)
