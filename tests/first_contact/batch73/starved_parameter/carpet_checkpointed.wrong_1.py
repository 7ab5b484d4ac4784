"""Faults in woven carpet from wide line scans.  Stages are recomputed in the backward pass to fit in memory."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class CarpetNet(nn.Module):
    def __init__(self, channels=8, depth=3, save_memory=True):
        super().__init__()
        self.save_memory = save_memory
        self.stem = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), Residual(channels))
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 2, stride=2), Residual(channels)) for _ in range(depth))
        self.prompt = nn.Parameter(0.1 * torch.randn(1, channels, 1, 1))
        self.head = nn.Linear(channels, 3)

    def run(self, stage, x):
        if self.save_memory and self.training:
            return checkpoint(stage, x, use_reentrant=True)
        return stage(x)

    def forward(self, scan):
        x = self.run(self.stem, scan).requires_grad_()
        x = x + self.prompt
        for stage in self.stages:
            x = self.run(stage, x)
        return self.head(x.mean(dim=(2, 3)))


def scans(n, gen):
    fault = torch.randint(0, 3, (n,), generator=gen)
    weave = torch.sin(torch.arange(32.0) * 1.3).view(1, 1, 1, 32).repeat(n, 1, 16, 1)
    weave = weave + 0.3 * torch.randn(n, 1, 16, 32, generator=gen)
    for i, kind in enumerate(fault.tolist()):
        if kind == 1:
            weave[i, :, :, 12:15] = 0.0
        elif kind == 2:
            weave[i, :, 6:9] *= -1.0
    return weave, fault


torch.manual_seed(55)
gen = torch.Generator().manual_seed(56)
net = CarpetNet()
decay, no_decay = [], []
for name, p in net.named_parameters():
    (no_decay if p.ndim == 1 or name == "prompt" else decay).append(p)
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05},
                               {"params": no_decay, "weight_decay": 0.0}], lr=3e-3)
criterion = nn.CrossEntropyLoss()
for it in range(8):
    images, labels = scans(12, gen)
    optimizer.zero_grad()
    loss = criterion(net(images), labels)
    loss.backward()
    optimizer.step()
    print(f"iteration {it}: {loss.item():.4f}")
