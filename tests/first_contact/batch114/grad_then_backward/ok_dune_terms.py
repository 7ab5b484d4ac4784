"""A travelling dune as a physics-informed network, with terms balanced by their gradients.

Height h(x, t) obeys h_t + c h_x = k h_xx; the creep k is unknown and learned along with the
network. Every few steps the terms are re-weighted so that each pulls on the network equally hard.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

SPEED = 0.6


class Dune(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.log_creep = nn.Parameter(torch.tensor(-3.0))

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return self.net(torch.stack([x, t], dim=-1)).squeeze(-1)

    def residual(self, x: Tensor, t: Tensor) -> Tensor:
        x, t = x.clone().requires_grad_(), t.clone().requires_grad_()
        h = self(x, t)
        h_x, h_t = torch.autograd.grad(h.sum(), (x, t), create_graph=True)
        (h_xx,) = torch.autograd.grad(h_x.sum(), x, create_graph=True)
        return h_t + SPEED * h_x - self.log_creep.exp() * h_xx


@dataclass
class Balancer:
    every: int = 4
    keep: float = 0.8
    weights: dict[str, Tensor] = field(default_factory=dict)

    def __call__(self, step: int, terms: dict[str, Tensor], model: Dune) -> Tensor:
        if step % self.every == 0:
            self.refresh(terms, list(model.net.parameters()))
        return sum(self.weights[name] * term for name, term in terms.items())

    def refresh(self, terms: dict[str, Tensor], parameters: list[Tensor]) -> None:
        pulls = {}
        for name, term in terms.items():
            grads = torch.autograd.grad(term, parameters, retain_graph=True, allow_unused=True)
            pulls[name] = torch.stack([g.norm() for g in grads if g is not None]).norm()
        mean = torch.stack(list(pulls.values())).mean()
        for name, pull in pulls.items():
            fresh = mean / (pull + 1e-8)
            old = self.weights.get(name, fresh)
            self.weights[name] = self.keep * old + (1 - self.keep) * fresh


def profile(x: Tensor) -> Tensor:
    return torch.exp(-8 * (x + 0.5) ** 2)


def main() -> None:
    torch.manual_seed(41)
    model = Dune()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    balance = Balancer()
    start = torch.linspace(-1, 1, 40)
    gauges = torch.tensor([0.0, 0.3]).repeat_interleave(10)
    times = torch.linspace(0.1, 1.0, 10).repeat(2)
    readings = 0.9 * profile(gauges - SPEED * times)
    for step in range(16):
        x, t = 2 * torch.rand(80) - 1, torch.rand(80)
        terms = {
            "start": (model(start, torch.zeros_like(start)) - profile(start)).square().mean(),
            "gauges": (model(gauges, times) - readings).square().mean(),
            "motion": model.residual(x, t).square().mean(),
        }
        loss = balance(step, terms, model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            shown = {name: f"{weight.item():.2f}" for name, weight in balance.weights.items()}
            print(step + 1, f"{loss.item():.4f}", shown, f"creep {model.log_creep.exp().item():.4f}")


if __name__ == "__main__":
    main()
