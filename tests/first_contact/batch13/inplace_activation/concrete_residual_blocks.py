# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = out, x
"""Compressive strength of concrete from its mix: a small residual network on tables."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x):
        out = self.up(self.norm(x))
        out = torch.sigmoid(out)  # expect: place
        out += self.down(out)  # expect: place
        out += x
        return out


class MixNet(nn.Module):
    def __init__(self, inputs=8, width=24, depth=3):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.last = nn.Linear(width, 1)

    def forward(self, mix):
        x = self.first(mix)
        for block in self.blocks:
            x = block(x)
        return self.last(x).squeeze(1)


torch.manual_seed(2)
mixes = torch.rand(128, 8)
strength = 3 * mixes[:, 0] - 2 * mixes[:, 3] * mixes[:, 0] + mixes[:, 7].sqrt()
net = MixNet()
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(6):
    total = 0.0
    for part in torch.randperm(128).split(32):
        loss = F.mse_loss(net(mixes[part]), strength[part])
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        total += loss.item() / 4
    print(epoch, round(total, 4))
