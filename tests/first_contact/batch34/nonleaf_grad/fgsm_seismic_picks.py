# expect: pattern = nonleaf-grad
# expect: raises = AttributeError: 'NoneType' object has no attribute 'sign'
# expect: carrier = x, x.grad
"""Adversarial training (FGSM) of a detector of earthquake arrivals in three-component windows."""
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(13)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

MEAN = torch.tensor([0.1, -0.05, 0.0]).view(1, 3, 1)
STD = torch.tensor([1.2, 0.9, 1.0]).view(1, 3, 1)


def windows(n, length=64):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 3, length) * STD * 0.5 + MEAN
    t = torch.arange(length).float()
    for i in range(n):
        if y[i]:
            onset = torch.randint(15, 45, (1,)).item()
            x[i] += (t >= onset).float() * torch.exp(-(t - onset).clamp(min=0) / 12) * torch.sin(1.3 * t) * 2
    return x, y


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(3, 12, 7, stride=2, padding=3), nn.ELU(),
            nn.Conv1d(12, 16, 5, stride=2, padding=2), nn.ELU(),
            nn.AdaptiveMaxPool1d(1))
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.conv(x).squeeze(-1))


def fgsm(model, x, y, eps):
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    x_adv = x + eps * x.grad.sign()  # expect: place
    return x_adv.detach()


model = Detector().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for step in range(20):
    x, y = windows(24)
    x.requires_grad = True  # expect: place
    x = (x - MEAN) / STD  # expect: place
    x, y = x.to(device), y.to(device)

    x_adv = fgsm(model, x, y, eps=0.05)
    optimizer.zero_grad()
    logits_clean, logits_adv = model(x.detach()), model(x_adv)
    loss = 0.5 * (F.cross_entropy(logits_clean, y) + F.cross_entropy(logits_adv, y))
    loss.backward()
    optimizer.step()

    if step % 5 == 0:
        acc = (logits_adv.argmax(1) == y).float().mean().item()
        print(f"step {step:2d} loss {loss.item():.3f} adversarial accuracy {acc:.2f}")
