"""Adam on a gradient that is corrected by its change since the last step."""
import torch
from torch.optim import Optimizer


class Correcting(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), gamma=0.025, eps=1e-8):
        if not 0.0 <= gamma < 1.0:
            raise ValueError(f"gamma out of range: {gamma}")
        super().__init__(params, dict(lr=lr, betas=betas, gamma=gamma, eps=eps))

    def _start(self, state, p):
        state["step"] = 0
        state["mean"] = torch.zeros_like(p)
        state["square"] = torch.zeros_like(p)
        state["last_grad"] = torch.zeros_like(p)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad, state = p.grad, self.state[p]  # expect: place
                if not state:
                    self._start(state, p)
                state["step"] += 1
                change = grad - state["last_grad"]  # expect: place
                corrected = grad + group["gamma"] * first / (1 - first) * change
                norm = corrected.norm()
                if norm > 1.0:
                    corrected = corrected / norm
                state["mean"].lerp_(corrected, 1 - first)
                state["square"].lerp_(corrected * corrected, 1 - second)
                mean = state["mean"] / (1 - first ** state["step"])
                root = (state["square"] / (1 - second ** state["step"])).sqrt_()
                p.addcdiv_(mean, root.add_(group["eps"]), value=-group["lr"])
                state["last_grad"] = grad  # expect: place
        return loss
