# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class BoxHead(nn.Module):
    """Turns centre and size into corners, one clone for all four writes."""

    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, 4)

    def forward(self, x):
        raw = self.fc(x)
        cx, cy, w, h = raw.unbind(-1)
        corners = raw.clone()
        corners[:, 0] = cx - w.exp() / 2
        corners[:, 1] = cy - h.exp() / 2
        corners[:, 2:] = torch.stack([cx + w.exp() / 2, cy + h.exp() / 2], -1)
        return corners


def giou_like(a, b):
    lo, hi = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    overlap = (hi - lo).clamp_(min=0).prod(-1)
    area = lambda box: (box[:, 2:] - box[:, :2]).prod(-1)
    return 1 - overlap / (area(a) + area(b) - overlap)


torch.manual_seed(0)
head = BoxHead(5)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(12, 5)
    lo = torch.rand(12, 2)
    target = torch.cat([lo - 0.5, lo + 0.5], -1)
    loss = giou_like(head(x), target).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
