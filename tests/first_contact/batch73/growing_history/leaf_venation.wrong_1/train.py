"""Self-supervised features of leaf venation: two augmented views, variance-invariance-covariance loss."""
import torch
import torch.nn.functional as F
from torch import nn

from monitor import CollapseMonitor


class VeinEncoder(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(150, 24))
        self.expander = nn.Sequential(nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, dim))

    def forward(self, leaf):
        return self.expander(self.backbone(leaf))


def off_diagonal(m):
    return m - torch.diag(m.diagonal())


def vicreg(a, b, sim=25.0, std=25.0, cov=1.0):
    spread = sum(F.relu(1 - (z.var(0) + 1e-4).sqrt()).mean() for z in (a, b))
    redundancy = sum(off_diagonal(torch.cov(z.T)).square().sum() / z.size(1) for z in (a, b))
    return sim * F.mse_loss(a, b) + std * spread / 2 + cov * redundancy


def leaves(n, gen):
    angle = torch.rand(n, 1, 1, generator=gen) * 1.5
    rows, cols = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    return torch.sin(rows * angle.cos() * 1.2 + cols * angle.sin() * 1.2).unsqueeze(1)


def augment(leaf, gen):
    shifted = leaf.roll(int(torch.randint(-2, 3, (1,), generator=gen)), dims=3)
    return shifted + 0.2 * torch.randn(leaf.shape, generator=gen)


def main(steps=40):
    torch.manual_seed(73)
    gen = torch.Generator().manual_seed(74)
    net = VeinEncoder()
    monitor = CollapseMonitor(12)
    optimizer = torch.optim.SGD(net.parameters(), lr=5e-3, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        leaf = leaves(32, gen)
        za, zb = net(augment(leaf, gen)), net(augment(leaf, gen))
        loss = vicreg(za, zb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        monitor.observe(za)
        if step % 10 == 9:
            print(f"step {step + 1} loss {loss.item():.3f} effective rank {monitor.effective_rank():.2f}")


if __name__ == "__main__":
    main()
