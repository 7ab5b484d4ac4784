# expect: pattern = none
# expect: raises = nothing
"""Setting time of concrete: residual blocks that add in place where nothing has been saved."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.down = nn.Linear(width, width)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.act(self.norm(self.up(x)))
        out = self.down(out)
        out += x
        return self.act(out)


class SettingNet(nn.Module):
    def __init__(self, inputs=6, width=24, depth=3):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.last = nn.Linear(width, 1)

    def forward(self, mix):
        return self.last(self.blocks(F.relu(self.first(mix)))).squeeze(1)


torch.manual_seed(8)
mixes = torch.rand(128, 6)
hours = 5 + 4 * mixes[:, 1] - 3 * mixes[:, 2] * mixes[:, 4]
net = SettingNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(6):
    epoch_loss = 0.0
    for part in torch.randperm(128).split(32):
        loss = F.l1_loss(net(mixes[part]), hours[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(part)
    print(epoch, round(epoch_loss / 128, 4))
