# expect: pattern = none
# expect: raises = nothing
import numpy as np
import torch
from torch import nn
from dataclasses import dataclass, field


@dataclass
class Tracker:
    losses: list = field(default_factory=list)
    confusion: np.ndarray = field(default_factory=lambda: np.zeros((3, 3), dtype=int))

    def update(self, loss, logits, y):
        self.losses.append(np.asarray(loss.detach()))
        np.add.at(self.confusion, (y.numpy(), logits.detach().argmax(1).numpy()), 1)

    def report(self):
        return float(np.mean(self.losses)), np.diag(self.confusion).sum() / self.confusion.sum()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
weights = torch.from_numpy(np.array([1.0, 2.0, 1.0], dtype=np.float32))
optimizer = torch.optim.Adam(net.parameters())
tracker = Tracker()
for epoch in range(3):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y, weight=weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tracker.update(loss, logits, y)
with torch.no_grad():
    embedding = net[0](x).numpy()
print(tracker.report(), np.linalg.svd(embedding)[1][:2])
