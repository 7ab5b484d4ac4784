# expect: pattern = none
"""Normalised steps for the drift of a tide gauge; the gradient goes by a short name within each pass."""
import torch

torch.manual_seed(5)
hours = torch.linspace(0, 1, 40)
basis = torch.stack([torch.ones(40), hours, torch.sin(6.28 * hours)], 1)
level = basis @ torch.tensor([0.4, 1.3, -0.7]) + 0.02 * torch.randn(40)

w = torch.zeros(3, requires_grad=True)
speed = torch.zeros(3)
for step in range(15):
    if w.grad is not None:
        w.grad.zero_()
    loss = (basis @ w - level).pow(2).mean()
    loss.backward()
    g = w.grad
    speed = 0.8 * speed + g
    with torch.no_grad():
        w -= 0.1 * (speed + w.grad) / (1 + g.norm())
    print(step, loss.item(), float(g.norm()))
