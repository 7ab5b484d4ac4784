# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 8)
        self.v = nn.Linear(8, 1)

    def forward(self, x):
        return self.v(torch.tanh(self.l(x)))


critic = Net()
actor = nn.Linear(4, 4)
actor_optim = optim.SGD(actor.parameters(), 0.1)
critic_optim = optim.SGD(critic.parameters(), 0.1)
states = torch.randn(6, 4)
returns = torch.randn(6, 1)
# paste: begin
actions = actor(states)
q = critic(actions)  # expect: place
critic_loss = F.mse_loss(q, returns)
actor_loss = -q.mean()

critic_optim.zero_grad()
critic_loss.backward(retain_graph=True)
critic_optim.step()  # expect: place

actor_optim.zero_grad()
actor_loss.backward()  # expect: place
actor_optim.step()
# paste: end
