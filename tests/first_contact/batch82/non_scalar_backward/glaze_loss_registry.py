# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss, misfit
"""Glaze colour from its oxides: losses from a registry, kilns weighed by how far they are trusted."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

LOSSES = {}


def register(name):
    def keep(build):
        LOSSES[name] = build
        return build
    return keep


@register("huber")
def huber(delta=1.0, reduction="mean"):
    return lambda out, want: F.huber_loss(out, want, delta=delta, reduction=reduction)


@register("trusted_huber")
def trusted_huber(delta=1.0, trust=()):
    plain = huber(delta, reduction="none")
    trust = torch.tensor(trust)

    def criterion(out, want, kiln):
        misfit = plain(out, want).mean(dim=1)  # expect: place
        return trust[kiln] * misfit  # expect: place
    return criterion


@dataclass
class LossConfig:
    name: str = "trusted_huber"
    options: dict = field(default_factory=lambda: {"delta": 0.5, "trust": (1.0, 0.6, 0.2)})

    def build(self):
        return LOSSES[self.name](**self.options)


class Callback:
    def after_step(self, loop):
        pass


class Progress(Callback):
    def after_step(self, loop):
        if loop.step % 5 == 0:
            print(loop.step, loop.loss.detach().mean().item())


class Loop:
    def __init__(self, model, criterion, callbacks):
        self.model, self.criterion, self.callbacks = model, criterion, callbacks
        self.opt = torch.optim.Adam(model.parameters(), lr=0.02)
        self.step, self.loss = 0, None

    def update(self, oxides, colour, kiln):
        self.opt.zero_grad()
        self.loss = self.criterion(self.model(oxides), colour, kiln)  # expect: place
        self.loss.backward()  # expect: place
        self.opt.step()
        for callback in self.callbacks:
            callback.after_step(self)
        self.step += 1


def firings(count):
    oxides = torch.rand(count, 5)
    colour = torch.stack([oxides[:, 0] - oxides[:, 1], oxides[:, 2], oxides[:, 3] * oxides[:, 4]], 1)
    kiln = torch.randint(0, 3, (count,))
    return oxides, colour + 0.1 * kiln[:, None] * torch.randn(count, 3), kiln


if __name__ == "__main__":
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 3))
    loop = Loop(model, LossConfig().build(), [Progress()])
    for _ in range(20):
        loop.update(*firings(24))
