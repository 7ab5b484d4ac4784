"""Bootstrap your own latent: an online net predicts a slow target; hooks collect features."""
import copy
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F


class FeatureTap:
    """Keeps what a module put out last, for a collapse check after the epoch."""

    def __init__(self, module):
        self.values = []
        self.handle = module.register_forward_hook(self.collect)
        self.module = weakref.ref(module)

    def collect(self, module, args, out):
        self.values.append(out.detach())
        del self.values[:-4]

    def spread(self):
        return torch.cat(self.values).std(0).mean().item()


class Online(nn.Module):
    def __init__(self, d_in=10, d=12):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(d_in, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, d))
        self.predictor = nn.Sequential(nn.Linear(d, 24), nn.ReLU(), nn.Linear(24, d))

    def forward(self, x):
        return self.predictor(self.backbone(x))


class BYOL:
    def __init__(self, decay=0.95):
        self.online = Online()
        self.target = copy.deepcopy(self.online.backbone)
        self.target.requires_grad_(False)
        self.tap = FeatureTap(self.online.backbone)
        self.decay = decay
        self.opt = torch.optim.SGD(self.online.parameters(), lr=0.05, momentum=0.9)

    def loss(self, a, b):
        return 2 - 2 * F.cosine_similarity(self.online(a), self.target(b)).mean()

    def update(self, x):
        a, b = x + 0.1 * torch.randn_like(x), x * (1 + 0.1 * torch.randn_like(x))
        self.opt.zero_grad()
        total = 0.0
        for first, second in ((a, b), (b, a)):
            half = self.loss(first, second)
            half.backward()
            total += half.item()
        self.opt.step()
        for t, o in zip(self.target.parameters(), self.online.backbone.parameters()):
            t.mul_(self.decay).add_(o.detach(), alpha=1 - self.decay)
        return total / 2


torch.manual_seed(6)
byol = BYOL()
mix = torch.randn(3, 10)
for it in range(8):
    value = byol.update(torch.randn(32, 3) @ mix)
print("loss %.4f spread %.4f" % (value, byol.tap.spread()))
