# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = prev
"""Phase-only synthesis of an antenna array's beam with resilient step sizes.

Every weight has its own step: it grows while the gradient keeps its sign and
shrinks when the sign flips, as in Rprop.
"""
import math

import torch
from torch.optim import Optimizer

torch.manual_seed(29)


class SignSteps(Optimizer):
    def __init__(self, params, step0=0.01, up=1.2, down=0.5, bounds=(1e-6, 0.5)):
        super().__init__(params, dict(step0=step0, up=up, down=down, bounds=bounds))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            lo, hi = group["bounds"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                if not st:
                    st["size"] = torch.full_like(p, group["step0"])
                    st["prev"] = torch.zeros_like(p)
                agree = p.grad * st["prev"]
                factor = torch.ones_like(p)
                factor[agree > 0] = group["up"]
                factor[agree < 0] = group["down"]
                st["size"].mul_(factor).clamp_(lo, hi)
                p.sub_(p.grad.sign() * st["size"])
                st["prev"] = p.grad  # expect: place


class Array(torch.nn.Module):
    """A line of radiators half a wavelength apart."""

    def __init__(self, n):
        super().__init__()
        self.phase = torch.nn.Parameter(0.1 * torch.randn(n))
        self.taper = torch.nn.Parameter(torch.zeros(n))
        self.register_buffer("slot", torch.arange(n, dtype=torch.float32) - (n - 1) / 2)

    def forward(self, sin_theta):
        weight = torch.sigmoid(self.taper)
        arg = math.pi * self.slot * sin_theta[:, None] + self.phase
        re = (weight * torch.cos(arg)).sum(1)
        im = (weight * torch.sin(arg)).sum(1)
        return torch.sqrt(re ** 2 + im ** 2 + 1e-9) / weight.sum()


def mask(sin_theta):
    """Main beam at 20 degrees, a null sector towards the other tower."""
    beam = torch.exp(-((sin_theta - math.sin(math.radians(20))) / 0.09) ** 2)
    care = torch.ones_like(sin_theta)
    care[(sin_theta > -0.5) & (sin_theta < -0.3)] = 5.0
    return beam, care


def pattern_error(array, sin_theta, beam, care):
    return (care * (array(sin_theta) - beam) ** 2).mean()


def synthesise(n=20, steps=80):
    array = Array(n)
    sin_theta = torch.linspace(-1, 1, 241)
    beam, care = mask(sin_theta)
    opt = SignSteps(array.parameters())
    history = []
    for it in range(steps):
        opt.zero_grad(set_to_none=False)
        err = pattern_error(array, sin_theta, beam, care)
        err.backward()
        opt.step()
        history.append(err.item())
        if it % 16 == 15:
            mean_step = opt.state[array.phase]["size"].mean().item()
            print(f"it {it + 1:3d}  error {err.item():.5f}  mean phase step {mean_step:.5f}")
    return min(history)


if __name__ == "__main__":
    print("best error", round(synthesise(), 5))
