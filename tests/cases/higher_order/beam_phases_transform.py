# expect: pattern = higher-order
# expect: carrier = steered
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
"""A start for antenna phases from which one Newton-like step steers the beam well."""
import torch
from torch.func import grad_and_value

torch.manual_seed(21)
ELEMENTS = 6
SPACING = 0.5 * 2 * torch.pi


def gain(phases, angle):
    turns = SPACING * torch.arange(ELEMENTS) * torch.sin(angle) + phases
    return (torch.cos(turns).mean() ** 2 + torch.sin(turns).mean() ** 2).sqrt()


def miss(phases, angle):
    return (1 - gain(phases, angle)) ** 2


def steer(phases, pace, angle):
    derive = grad_and_value(miss)
    for _ in range(2):
        slope, height = derive(phases, angle)
        phases = phases - pace * slope / (0.1 + height)  # expect: place
    return phases


phases = (0.1 * torch.randn(ELEMENTS)).requires_grad_()
pace = torch.tensor(0.5, requires_grad=True)
outer = torch.optim.SGD([phases, pace], lr=0.05)
for attempt in range(10):
    angle = 0.6 * torch.rand(())
    outer.zero_grad()
    steered = steer(phases, pace, angle)  # expect: place
    wanted = miss(steered, angle + 0.02)
    leaked = 0.3 * gain(steered, angle - 0.8)
    wanted.backward()  # expect: place
    leaked.backward()  # expect: place
    outer.step()
    print(attempt, round(wanted.item(), 4), round(leaked.item(), 4))
