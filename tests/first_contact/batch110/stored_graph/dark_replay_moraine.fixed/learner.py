import torch
from torch import nn
import torch.nn.functional as F

from reservoir import Reservoir


class DarkLearner:
    """Rehearses old patches and holds the net to what it answered when it first saw them."""

    def __init__(self, features, classes, capacity, alpha):
        self.net = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, classes))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.memory = Reservoir(capacity)
        self.alpha = alpha

    def observe(self, patches, labels):
        self.opt.zero_grad()
        logits = self.net(patches)
        loss = F.cross_entropy(logits, labels)
        if len(self.memory):
            again, old = self.memory.draw(16)
            loss = loss + self.alpha * F.mse_loss(self.net(again), old)
        loss.backward()
        self.opt.step()
        self.memory.add(patches, logits.detach())
        return loss.item()
