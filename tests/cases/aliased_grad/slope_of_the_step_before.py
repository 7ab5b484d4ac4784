# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = before, w.grad, slope
"""Barzilai-Borwein steps for the drift of a tide gauge: each length comes from two gradients in a row."""
import torch

torch.manual_seed(5)
hours = torch.linspace(0, 1, 40)
basis = torch.stack([torch.ones(40), hours, torch.sin(6.28 * hours)], 1)
level = basis @ torch.tensor([0.4, 1.3, -0.7]) + 0.02 * torch.randn(40)

w = torch.zeros(3, requires_grad=True)
before, place, rate = None, None, 0.05
for step in range(15):
    if w.grad is not None:
        w.grad.zero_()
    loss = (basis @ w - level).pow(2).mean()
    loss.backward()
    if before is not None:
        moved = w.detach() - place
        turned = w.grad - before
        length = (moved @ turned).abs() / (turned @ turned).clamp(min=1e-8)
        rate = min(float(length), 0.5) or 0.05
    before, place = w.grad, w.detach().clone()  # expect: place
    with torch.no_grad():
        w -= rate * w.grad
    print(step, loss.item(), rate)
