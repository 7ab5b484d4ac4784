# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Split is a view and is being modified inplace
# expect: carrier = signal, wrench
"""Slip prediction for a two-finger gripper: gated temporal convolutions over force readings."""
import torch
import torch.nn.functional as F
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, ch, dilation):
        super().__init__()
        self.conv = nn.Conv1d(ch, 2 * ch, 3, dilation=dilation)
        self.pad = 2 * dilation
        self.mix = nn.Conv1d(ch, ch, 1)

    def forward(self, x):
        wide = self.conv(F.pad(x, (self.pad, 0)))
        signal, gate = wide.chunk(2, dim=1)  # expect: place
        signal = signal * torch.sigmoid(gate).detach()  # expect: place
        return x + self.mix(signal)


class SlipNet(nn.Module):
    def __init__(self, sensors=6, ch=16, dilations=(1, 2, 4)):
        super().__init__()
        self.inp = nn.Conv1d(sensors, ch, 1)
        self.blocks = nn.ModuleList(GatedBlock(ch, d) for d in dilations)
        self.out = nn.Linear(ch, 1)

    def forward(self, x):
        h = self.inp(x)
        for block in self.blocks:
            h = block(h)
        return self.out(h[..., -1]).squeeze(-1)


def grasps(generator, n, steps=24):
    """A grasp slips when tangential force grows faster than normal force allows."""
    normal = torch.rand(n, 1, generator=generator) + 0.5
    slope = torch.rand(n, 1, generator=generator) * 2
    t = torch.linspace(0, 1, steps)
    tangential = slope * t
    readings = torch.randn(n, 6, steps, generator=generator) * 0.1
    readings[:, 0] += normal
    readings[:, 1] += tangential
    return readings, (tangential[:, -1] > normal.squeeze(1)).float()


class Trainer:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.opt = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.gen = torch.Generator().manual_seed(51)

    def step(self):
        x, y = grasps(self.gen, 32)
        loss = F.binary_cross_entropy_with_logits(self.model(x), y)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, steps=40, every=10):
        for s in range(steps):
            loss = self.step()
            if s % every == 0:
                print(f"step {s:3d}  bce {loss:.4f}")


torch.manual_seed(51)
Trainer(SlipNet()).fit()
