# expect: pattern = leaf-rebound
# expect: also = starved-parameter
# expect: raises = nothing
# expect: carrier = rates
"""Where does the smoke come from? Emission rates of twelve stacks from a ring of samplers."""
import torch

torch.manual_seed(11)
STACKS, SAMPLERS = 12, 40

distances = 1 + 4 * torch.rand(SAMPLERS, STACKS)
spread = torch.exp(-distances) / distances
truth = torch.rand(STACKS) * (torch.rand(STACKS) > 0.5)
readings = spread @ truth + 0.002 * torch.randn(SAMPLERS)

rates = torch.full((STACKS,), 0.5, requires_grad=True)
background = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.Adam([rates, background], lr=0.02)

for sweep in range(60):
    optimizer.zero_grad()
    expected = spread @ rates + background
    misfit = (expected - readings).pow(2).mean()
    misfit.backward()
    optimizer.step()
    with torch.no_grad():
        rates.clamp_(min=0)
    if sweep % 20 == 0:
        print(f"sweep {sweep}: misfit {misfit.item():.5f}, background {background.item():.4f}")

print("rates", [round(rate, 3) for rate in rates.tolist()])
