"""Tell bat species apart by a bank of band-pass filters whose centres and widths are learnt."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Optimizer

RATE_KHZ, SAMPLES, SPECIES = 250.0, 256, 3


class SignMomentum(Optimizer):
    """Steps of one size along the sign of a running mean; the size shrinks with the count."""

    def __init__(self, params, lr=1e-2, keep=0.9, shrink=0.01):
        super().__init__(params, {"lr": lr, "keep": keep, "shrink": shrink})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if not state:
                    state["mean"], state["count"] = torch.zeros_like(param), 0
                state["mean"].mul_(group["keep"]).add_(param.grad, alpha=1 - group["keep"])
                size = group["lr"] / (1 + group["shrink"] * state["count"])
                param.sub_(state["mean"].sign(), alpha=size)
                state["count"] += 1


class FilterBank(nn.Module):
    def __init__(self, filters=6):
        super().__init__()
        self.centre = nn.Parameter(torch.linspace(0.2, 0.9, filters))
        self.log_width = nn.Parameter(torch.full((filters,), -2.5))

    def response(self):
        bins = torch.linspace(0, 1, SAMPLES // 2 + 1)
        offset = (bins - self.centre[:, None]) / self.log_width.exp()[:, None]
        return torch.exp(-0.5 * offset**2)


@dataclass
class Session:
    bank: torch.Tensor
    head: nn.Module

    def scores(self, calls):
        power = torch.fft.rfft(calls, norm="ortho").abs().square()
        return self.head(torch.log1p(power @ self.bank.T))


def record_calls(number, generator):
    kind = torch.randint(SPECIES, (number,), generator=generator)
    khz = 25.0 + 35.0 * kind + 4.0 * torch.randn(number, generator=generator)
    time = torch.arange(SAMPLES) / RATE_KHZ
    calls = torch.sin(2 * torch.pi * khz[:, None] * time) * torch.hann_window(SAMPLES)
    return calls + 0.3 * torch.randn(number, SAMPLES, generator=generator), kind


def nights(session, optimizer, count, generator):
    for _ in range(count):
        calls, kind = record_calls(48, generator)
        loss = F.cross_entropy(session.scores(calls), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    torch.manual_seed(0)
    filters, head = FilterBank(), nn.Linear(6, SPECIES)
    optimizer = SignMomentum([*filters.parameters(), *head.parameters()], lr=8e-3)
    session = Session(bank=filters.response().detach(), head=head)
    for night, loss in enumerate(nights(session, optimizer, 25, torch.Generator().manual_seed(1))):
        if night % 5 == 0:
            print(f"night {night}: {loss:.4f}")


if __name__ == "__main__":
    main()
