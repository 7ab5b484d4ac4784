from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class EarlyStopping:
    patience: int = 2
    best: dict = field(default_factory=dict)
    bad_epochs: int = 0

    def step(self, epoch, loss, model):
        if not self.best or loss < self.best["loss"]:
            checkpoint = {"epoch": epoch, "loss": loss.item(), "weights": model.state_dict()}
            self.best = deepcopy(checkpoint)
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs > self.patience


torch.manual_seed(9)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
stopper = EarlyStopping()
x = torch.randn(50, 4)
y = x.abs().sum(1, keepdim=True)
for epoch in range(8):
    optimizer.zero_grad()
    loss = nn.functional.l1_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if stopper.step(epoch, loss, model):
        break
print("stopped at", epoch, "best", float(stopper.best["loss"]))
