# expect: pattern = none
# expect: raises = nothing
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class CropNet(nn.Module):
    """Yield (regression) and disease (classification) from field measurements."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.yield_head = nn.Linear(24, 1)
        self.disease_head = nn.Linear(24, 2)

    def forward(self, x):
        z = self.shared(x)
        return self.yield_head(z).squeeze(1), self.disease_head(z)


def project_conflicting(grads):
    projected = [g.clone() for g in grads]
    for g in projected:
        others = list(grads)
        random.shuffle(others)
        for other in others:
            dot = torch.dot(g, other)
            if dot < 0:
                g -= dot / other.norm() ** 2 * other
    return torch.stack(projected).mean(0)


def assign(params, flat):
    offset = 0
    for p in params:
        p.grad = flat[offset : offset + p.numel()].view_as(p).clone()
        offset += p.numel()


random.seed(4)
torch.manual_seed(4)
x = torch.randn(256, 7)
y = x @ torch.randn(7) + 0.1 * torch.randn(256)
d = (x[:, 0] * x[:, 1] > 0).long()

model = CropNet()
shared = list(model.shared.parameters())
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(25):
    idx = torch.randint(0, 256, (64,))
    pred, logits = model(x[idx])
    losses = [F.mse_loss(pred, y[idx]), F.cross_entropy(logits, d[idx])]
    opt.zero_grad()
    flat = []
    for loss in losses:
        g = torch.autograd.grad(loss, shared, retain_graph=True)
        flat.append(torch.cat([t.flatten() for t in g]))
    sum(losses).backward()
    assign(shared, project_conflicting(flat))
    opt.step()
    if step % 8 == 0:
        print(step, [round(l.item(), 3) for l in losses])
