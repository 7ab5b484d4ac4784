"""Lay a drone photo over an old map: one angle, one scale, a shift and the light."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Similarity(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = nn.Parameter(torch.tensor(0.0))
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.shift = nn.Parameter(torch.zeros(2))
        self.gain = nn.Parameter(torch.ones(1))
        self.offset = nn.Parameter(torch.zeros(1))

    def matrix(self):
        scale = self.log_scale.exp()
        cos, sin = torch.cos(self.angle) * scale, torch.sin(self.angle) * scale
        rotation = torch.stack([torch.stack([cos, -sin]), torch.stack([sin, cos])])
        return torch.cat([rotation, self.shift[:, None]], dim=1)

    def forward(self, photo):
        theta = self.matrix().expand(photo.size(0), 2, 3)
        grid = F.affine_grid(theta, list(photo.shape), align_corners=False)
        moved = F.grid_sample(photo, grid, padding_mode="border", align_corners=False)
        return self.gain * moved + self.offset


def landscape(size, generator):
    coarse = torch.rand(1, 1, 6, 6, generator=generator)
    return F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False)


def old_map(photo):
    c, s = math.cos(0.25) * 1.1, math.sin(0.25) * 1.1
    theta = torch.tensor([[[c, -s, 0.06], [s, c, -0.04]]])
    grid = F.affine_grid(theta, list(photo.shape), align_corners=False)
    return 0.7 * F.grid_sample(photo, grid, padding_mode="border", align_corners=False) + 0.1


generator = torch.Generator().manual_seed(23)
torch.manual_seed(23)
photo = landscape(32, generator)
target = old_map(photo)

model = Similarity()
optimizer = torch.optim.Adam([
    {"params": [model.angle, model.log_scale], "lr": 2e-2},
    {"params": [model.shift, model.gain, model.offset], "lr": 1e-2},
])
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
for step in range(60):
    loss = F.smooth_l1_loss(model(photo), target, beta=0.05)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 19:
        print("step %d  loss %.5f  shift %s" % (step, loss.item(), model.shift.tolist()))
print("angle %.3f  scale %.3f" % (model.angle.item(), model.log_scale.exp().item()))
