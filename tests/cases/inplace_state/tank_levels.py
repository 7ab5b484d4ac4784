# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = level, levels
"""Cascaded water tanks, a step at a time: valve openings are fitted to a measured outflow."""
import torch


def settle(level, inflow, out):
    level.sub_(out)  # expect: place
    level.add_(inflow)  # expect: place
    return level


def outflows(opening, rain):
    levels = torch.ones(3)
    seen = []
    for drops in rain:
        out = levels * opening.sigmoid()  # expect: place
        inflow = torch.cat([drops.view(1), out[:-1]])
        levels = settle(levels, inflow, out)  # expect: place
        seen.append(out[-1])
    return torch.stack(seen)


torch.manual_seed(7)
opening = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.Adam([opening], lr=0.05)
for storm in range(6):
    rain = torch.rand(12)
    measured = 0.3 * rain.cumsum(0) / 4
    misfit = (outflows(opening, rain) - measured).pow(2).mean()
    optimizer.zero_grad()
    misfit.backward()  # expect: place
    optimizer.step()
print(f"{misfit.item():.4f}")
