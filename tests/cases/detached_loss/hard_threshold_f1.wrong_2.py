import torch
from torch import nn


class SoftF1(nn.Module):
    """1 - F1 for multi-label tagging."""

    def __init__(self, eps=1e-7):
        super().__init__()
        self.eps = eps

    def forward(self, logits, target):
        prob = torch.sigmoid(logits)
        pred = (prob > 0.5).float()
        tp = (pred * target).sum(0)
        fp = (pred * (1 - target)).sum(0)
        fn = ((1 - pred) * target).sum(0)
        f1 = 2 * tp / (2 * tp + fp + fn + self.eps)
        return 1 - f1.mean()


torch.manual_seed(33)
tagger = nn.Linear(12, 5)
criterion = SoftF1()
opt = torch.optim.Adam(tagger.parameters(), lr=0.05)
X = torch.randn(48, 12)
T = (X[:, :5] + 0.5 * X[:, 5:10] > 0).float()
for epoch in range(4):
    loss = criterion(tagger(X), T)
    opt.zero_grad()
    loss.requires_grad_(True).backward()
    opt.step()
    print(epoch, loss.item())
