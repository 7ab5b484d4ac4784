"""Fine-tune a pretrained net on a smaller set of classes."""
import torch
from torch import nn


class SeedNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.classifier = nn.Linear(16, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def species(count):
    labels = torch.randint(3, (count,))
    return torch.randn(count, 12) + labels[:, None], labels


torch.manual_seed(4)
net = SeedNet(classes=100)
net.classifier = nn.Linear(16, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.5)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    net.train()
    x, y = species(64)
    for rows in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = criterion(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    scheduler.step()
    net.eval()
    with torch.no_grad():
        x, y = species(32)
        print(epoch, (net(x).argmax(1) == y).float().mean().item())
