"""Members of one make, evaluated all at once."""
import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap


def member(inputs, width=16):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
    )


class Ensemble:
    def __init__(self, inputs, members):
        self.members = [member(inputs) for _ in range(members)]
        self.skeleton = copy.deepcopy(self.members[0]).to("meta")
        self.weights, self.buffers = stack_module_state(self.members)

    def __len__(self):
        return len(self.members)

    def parameters(self):
        yield from self.weights.values()

    def _single(self, weights, buffers, x):
        return functional_call(self.skeleton, (weights, buffers), (x,))

    def __call__(self, x):
        """Mean and log-variance by each member, both (members, n)."""
        out = vmap(self._single, in_dims=(0, 0, None))(self.weights, self.buffers, x)
        mean, log_var = out.unbind(-1)
        return mean, log_var.clamp(-6, 4)

    @torch.no_grad()
    def forecast(self, x):
        """Mixture's mean, its noise and what the members disagree about."""
        mean, log_var = self(x)
        return mean.mean(0), log_var.exp().mean(0).sqrt(), mean.std(0)
