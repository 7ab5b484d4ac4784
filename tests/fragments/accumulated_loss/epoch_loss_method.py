# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.epoch_loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.opt = optim.SGD(self.net.parameters(), 0.01)
        self.crit = nn.MSELoss()
        self.loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
        self.epoch_loss = 0

    # paste: begin
    def train_epoch(self):
        self.epoch_loss = 0
        for x, y in self.loader:
            self.opt.zero_grad()
            out = self.net(x)
            loss = self.crit(out, y)
            self.epoch_loss = self.epoch_loss + loss  # expect: place
            self.epoch_loss.backward()  # expect: place
            self.opt.step()

    # paste: end


Trainer().train_epoch()
