"""Fit a surrogate of glaze gloss, then climb it for the next batch of recipes to fire."""

import torch
from surrogate import build_surrogate, fit
from torch import Tensor, nn

INGREDIENTS = 4


def fired_tiles(count: int) -> tuple[Tensor, Tensor]:
    recipes = torch.rand(count, INGREDIENTS) * torch.tensor([2.0, 1.0, 5.0, 0.5]) + 0.05
    gloss = torch.sin(recipes[:, 0]) + recipes[:, 1] ** 2 - 0.1 * recipes[:, 2] * recipes[:, 3]
    return recipes, gloss + 0.02 * torch.randn(count)


def propose(model: nn.Module, start: Tensor, steps: int = 12, lr: float = 0.05) -> Tensor:
    """Gradient ascent on the predicted gloss, from several starting recipes at once."""
    model.train()
    candidates = start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([candidates], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        score = model(candidates).sum()
        (-score).backward()
        optimizer.step()
        with torch.no_grad():
            candidates.clamp_(min=0.05)
    return candidates.detach()


def main() -> None:
    torch.manual_seed(11)
    recipes, gloss = fired_tiles(40)
    model = build_surrogate(INGREDIENTS)
    for cycle in range(2):
        error = fit(model, recipes, gloss)
        best = recipes[gloss.topk(3).indices]
        proposals = propose(model, best)
        measured = torch.sin(proposals[:, 0]) + proposals[:, 1] ** 2
        recipes, gloss = torch.cat([recipes, proposals]), torch.cat([gloss, measured])
        print(f"cycle {cycle}: fit {error:.4f}, best gloss so far {gloss.max():.3f}")


if __name__ == "__main__":
    main()
