"""Fine-tune a pretrained net: the new head first, then the optimizer; what is left over is spare."""
import torch
from torch import nn


class SeedNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.classifier = nn.Linear(16, classes)
        self.spare = nn.Linear(16, 1)

    def forward(self, x):
        return self.classifier(self.features(x))


torch.manual_seed(4)
net = SeedNet(classes=100)
net.classifier = nn.Linear(16, 3)
parts = [*net.classifier.parameters(), *net.spare.parameters()]
optimizer = torch.optim.SGD(parts, lr=0.05, momentum=0.9)

for epoch in range(8):
    y = torch.randint(3, (64,))
    x = torch.randn(64, 12) + y[:, None]
    for rows in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
