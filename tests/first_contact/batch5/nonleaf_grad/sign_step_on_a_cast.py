# expect: pattern = nonleaf-grad
# expect: raises = AttributeError: 'NoneType' object has no attribute 'sign'
# expect: carrier = delta
"""Harden a road-sign classifier against one perturbation that is shared by all pictures."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EPS, ALPHA = 0.3, 0.1
DTYPE = torch.float64


def signs(n):
    y = torch.randint(3, (n,))
    img = torch.zeros(n, 1, 8, 8, dtype=DTYPE)
    for k, (r, c) in enumerate([(slice(1, 7), slice(3, 5)), (slice(3, 5), slice(1, 7)), (slice(2, 6), slice(2, 6))]):
        img[y == k, :, r, c] = 1
    return img + 0.2 * torch.randn_like(img), y


def attack(net, x, y, steps=3):
    delta = torch.zeros(1, 1, 8, 8, requires_grad=True).to(DTYPE)  # expect: place
    for _ in range(steps):
        loss = F.cross_entropy(net(x + delta), y)
        loss.backward()
        up = ALPHA * delta.grad.sign()  # expect: place
        delta = (delta + up).clamp(-EPS, EPS).detach().requires_grad_()
    return delta.detach()


torch.manual_seed(11)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)).to(DTYPE)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
for it in range(6):
    x, y = signs(16)
    delta = attack(net, x, y)
    opt.zero_grad()
    loss = F.cross_entropy(net(x + delta), y)
    loss.backward()
    opt.step()
    print(it, "%.4f" % loss.item())
