"""Segment lichen on gravestones; evaluate with averaged weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class EMA:
    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {}
        self.backup = {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                average = self.decay * self.shadow[name] + (1.0 - self.decay) * param.data
                self.shadow[name] = average

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.backup[name] = param.data
                param.data = self.shadow[name].data

    def restore(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                param.data = self.backup[name]
        self.backup = {}


def conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(2, b), nn.SiLU())


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = conv(1, 6)
        self.mid = conv(6, 8)
        self.up = conv(14, 6)
        self.head = nn.Conv2d(6, 1, 1)

    def forward(self, x):
        fine = self.down(x)
        coarse = F.interpolate(self.mid(F.avg_pool2d(fine, 2)), scale_factor=2.0)
        return self.head(self.up(torch.cat([fine, coarse], dim=1)))


def gravestones(n, generator):
    blobs = F.interpolate(torch.randn(n, 1, 4, 4, generator=generator), size=16, mode="bilinear", align_corners=False)
    mask = (blobs > 0.2).float()
    return mask * 0.6 + 0.4 * torch.randn(n, 1, 16, 16, generator=generator), mask


def dice(logits, mask):
    p = logits.sigmoid()
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


torch.manual_seed(2)
generator = torch.Generator().manual_seed(2)
model = Segmenter()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
ema = EMA(model, decay=0.95)
ema.register()
held_out = gravestones(8, generator)
for step in range(40):
    x, mask = gravestones(4, generator)
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    if step % 10 == 9:
        ema.apply_shadow()
        with torch.no_grad():
            score = 1 - dice(model(held_out[0]), held_out[1])
        ema.restore()
        print("step %d  loss %.4f  held-out dice %.3f" % (step, loss.item(), score))
