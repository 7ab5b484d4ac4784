import torch
from torch import nn
import torch.nn.functional as F


class SoftIoULoss(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, logits, target):
        pred = logits.sigmoid() + (logits.sigmoid().round() - logits.sigmoid()).detach()
        inter = (pred * target).sum((1, 2, 3))
        union = pred.sum((1, 2, 3)) + target.sum((1, 2, 3)) - inter
        return 1 - ((inter + self.eps) / (union + self.eps)).mean()


class SegTrainer:
    def __init__(self, net, criterion, lr=1e-2):
        self.net, self.criterion = net, criterion
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def training_step(self, batch):
        image, mask = batch
        logits = self.net(image)
        return self.criterion(logits, mask)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for batch in loader:
                loss = self.training_step(batch)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(epoch, loss.item())


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 1))
loader = [(torch.rand(2, 1, 8, 8), (torch.rand(2, 1, 8, 8) > 0.5).float()) for _ in range(3)]
SegTrainer(net, SoftIoULoss()).fit(loader, 2)
