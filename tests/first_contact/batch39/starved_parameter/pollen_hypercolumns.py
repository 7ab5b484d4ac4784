# expect: pattern = starved-parameter
# expect: carrier = out, stored, encoder
"""Pollen grains in microscope fields: hypercolumns from all stages of a small encoder, collected with hooks.

The encoder's learning rate may be 0.001, 0.1 or 10, the loss is the same to the last digit.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Hook:
    """Keeps the output of a module. Taken over from the activation plots."""

    def __init__(self, module, detach=True):  # expect: place
        self.detach = detach
        self.stored = None
        self.handle = module.register_forward_hook(self.hook_fn)

    def hook_fn(self, module, inputs, out):
        self.stored = out.detach() if self.detach else out  # expect: place

    def remove(self):
        self.handle.remove()


class Hooks:
    def __init__(self, modules, detach=True):  # expect: place
        self.hooks = [Hook(m, detach) for m in modules]

    @property
    def stored(self):
        return [h.stored for h in self.hooks]

    def remove(self):
        for h in self.hooks:
            h.remove()


def conv_stage(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, stride=2, padding=1), nn.BatchNorm2d(c_out), nn.ReLU())


class Hypercolumns(nn.Module):
    def __init__(self, widths=(8, 16, 24), n_classes=3):
        super().__init__()
        channels = (1, *widths)
        self.encoder = nn.Sequential(*(conv_stage(a, b) for a, b in zip(channels, channels[1:])))
        self.taps = Hooks(self.encoder)  # expect: place
        self.squeeze = nn.ModuleList(nn.Conv2d(w, 6, 1) for w in widths)
        self.head = nn.Sequential(nn.Conv2d(6 * len(widths), 16, 1), nn.ReLU(), nn.Conv2d(16, n_classes, 1))

    def forward(self, x):
        self.encoder(x)
        columns = [
            F.interpolate(sq(f), size=x.shape[-2:], mode="bilinear", align_corners=False)
            for sq, f in zip(self.squeeze, self.taps.stored)
        ]
        return self.head(torch.cat(columns, dim=1))


def fields(n, size=24):
    """Background, smooth grains (1) and spiny ones (2)."""
    yy, xx = torch.meshgrid(torch.arange(float(size)), torch.arange(float(size)), indexing="ij")
    images, masks = 0.1 * torch.randn(n, 1, size, size), torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        for kind in (1, 2):
            cx, cy, r = 5 + 14 * torch.rand(1), 5 + 14 * torch.rand(1), 3 + 2 * torch.rand(1)
            angle = torch.atan2(yy - cy, xx - cx)
            edge = r * (1 + 0.25 * (kind - 1) * torch.cos(9 * angle))
            inside = (xx - cx) ** 2 + (yy - cy) ** 2 < edge**2
            images[i, 0, inside] += 0.7
            masks[i, inside] = kind
    return images, masks


def iou(logits, masks):
    guess = logits.argmax(1)
    scores = [((guess == k) & (masks == k)).sum() / ((guess == k) | (masks == k)).sum().clamp(min=1) for k in (1, 2)]
    return float(sum(scores) / 2)


torch.manual_seed(21)
images, masks = fields(32)
model = Hypercolumns()
optimizer = torch.optim.SGD([
    {"params": model.encoder.parameters(), "lr": 0.1},
    {"params": [*model.squeeze.parameters(), *model.head.parameters()], "lr": 0.1},
], momentum=0.9, nesterov=True)
weight = torch.tensor([0.15, 1.0, 1.0])

for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(images)).split(8):
        logits = model(images[idx])
        loss = F.cross_entropy(logits, masks[idx], weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch}: loss {loss.item():.3f}, IoU {iou(model(images), masks):.3f}")
model.taps.remove()
