# expect: pattern = none
# expect: raises = nothing
"""Irradiation plan under a budget: the multiplier is a number that grows with the excess dose, from step to step."""
import torch
import torch.nn.functional as F


class Multiplier:
    """Dual ascent on a running mean of the excess."""

    def __init__(self, rate, memory=0.7):
        self.rate, self.memory = rate, memory
        self.value, self.mean = 0.0, None

    def update(self, excess):
        excess = excess.item()
        self.mean = excess if self.mean is None else self.memory * self.mean + (1 - self.memory) * excess
        self.value = max(0.0, self.value + self.rate * self.mean)


def doses(beams, organ, weights):
    fluence = F.softplus(weights)
    return beams @ fluence, organ @ fluence


torch.manual_seed(32)
beams, organ, limit = torch.rand(40, 12), 0.4 * torch.rand(12), 0.5
weights = torch.full((12,), -1.0, requires_grad=True)
opt = torch.optim.Adam([weights], lr=0.05)
lam, history = Multiplier(0.5), []
for step in range(15):
    target_dose, organ_dose = doses(beams, organ, weights)
    misfit = (target_dose - 2.0).square().mean()
    excess = organ_dose.square() - limit
    loss = misfit + lam.value * excess
    opt.zero_grad()
    loss.backward()
    opt.step()
    lam.update(excess)
    history.append((misfit.item(), excess.item()))
    if step % 3 == 2:
        print(step, round(loss.item(), 4), round(history[-1][1], 4), round(lam.value, 4))
