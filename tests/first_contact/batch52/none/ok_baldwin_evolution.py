# expect: pattern = none
# expect: raises = nothing
"""Baldwinian evolution: a population of small controllers for a cart with a pendulum load.

Every individual learns during its life (a few plain gradient steps on its own weights, in place);
what it reaches is its fitness, what it passes on are the weights that it was born with, plus the
search distribution's own gradient step.
"""
import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Settings:
    population: int = 6
    generations: int = 5
    life_steps: int = 3
    life_rate: float = 0.02
    sigma: float = 0.08
    rate: float = 0.05
    horizon: int = 20
    dt: float = 0.1


SHAPES = {"w1": (4, 8), "b1": (8,), "w2": (8, 1)}


def unflatten(genome: Tensor) -> dict[str, Tensor]:
    sizes = [math.prod(shape) for shape in SHAPES.values()]
    return {k: part.view(s) for (k, s), part in zip(SHAPES.items(), genome.split(sizes))}


def policy(w: dict[str, Tensor], state: Tensor) -> Tensor:
    return torch.tanh(torch.tanh(state @ w["w1"] + w["b1"]) @ w["w2"]).squeeze(-1)


def episode_cost(w: dict[str, Tensor], start: Tensor, cfg: Settings) -> Tensor:
    x, v, angle, omega = start.unbind(-1)
    cost = torch.zeros(len(start))
    for _ in range(cfg.horizon):
        u = 2.0 * policy(w, torch.stack([x, v, angle, omega], dim=-1))
        v = v + cfg.dt * (u - 0.1 * v)
        omega = omega + cfg.dt * (-torch.sin(angle) - u * torch.cos(angle) - 0.1 * omega)
        x, angle = x + cfg.dt * v, angle + cfg.dt * omega
        cost += x.square() + angle.square() + 0.01 * u.square()
    return cost.mean() / cfg.horizon


def live(genome: Tensor, starts: Tensor, cfg: Settings) -> float:
    """Lifetime learning on a private copy of the weights; returns the cost at the end."""
    w = {k: v.clone().requires_grad_() for k, v in unflatten(genome).items()}
    for _ in range(cfg.life_steps):
        episode_cost(w, starts, cfg).backward()
        with torch.no_grad():
            for p in w.values():
                p -= cfg.life_rate * p.grad
                p.grad = None
    with torch.no_grad():
        return episode_cost(w, starts, cfg).item()


def ranks(costs: list[float]) -> Tensor:
    order = torch.tensor(costs).argsort().argsort().float()
    return order / (len(costs) - 1) - 0.5


def main() -> None:
    torch.manual_seed(1896)
    cfg = Settings()
    genes = sum(math.prod(shape) for shape in SHAPES.values())
    mean = torch.nn.Parameter(0.3 * torch.randn(genes))
    optimizer = torch.optim.SGD([mean], lr=cfg.rate, momentum=0.5)
    starts = 0.8 * torch.randn(8, 4)
    for generation in range(cfg.generations):
        half = torch.randn(cfg.population // 2, genes)
        noise = torch.cat([half, -half])
        born = mean.detach() + cfg.sigma * noise
        costs = [live(genome, starts, cfg) for genome in born]
        mean.grad = (ranks(costs)[:, None] * noise).mean(0) / cfg.sigma
        optimizer.step()
        mean_cost = sum(costs) / len(costs)
        print(f"generation {generation}: mean cost {mean_cost:.4f}, best {min(costs):.4f}")


if __name__ == "__main__":
    main()
