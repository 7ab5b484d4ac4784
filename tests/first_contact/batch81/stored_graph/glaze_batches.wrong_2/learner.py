from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from reservoir import Reservoir


@dataclass
class Settings:
    alpha: float = 0.3
    beta: float = 0.5
    capacity: int = 40
    replay: int = 16
    lr: float = 0.05


class Learner:
    def __init__(self, net: nn.Module, settings: Settings):
        self.net, self.settings = net, settings
        self.buffer = Reservoir(settings.capacity)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=settings.lr)

    def observe(self, x, y):
        s = self.settings
        said = self.net(x)
        loss = F.cross_entropy(said, y)
        if len(self.buffer):
            old_x, _, old_said = self.buffer.draw(s.replay)
            loss = loss + s.alpha * F.mse_loss(self.net(old_x).detach(), old_said.detach())
            old_x, old_y, _ = self.buffer.draw(s.replay)
            loss = loss + s.beta * F.cross_entropy(self.net(old_x), old_y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.buffer.add(x, y, said)
        return loss.item()
