"""Meta-learn a start for restorers: after two corrections it should match a new mosaic's palette."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call


@dataclass(frozen=True)
class Recipe:
    mosaics: int = 4  # per outer step
    corrections: int = 2
    outer_steps: int = 6
    outer_rate: float = 1e-2


class Matcher(nn.Module):
    def __init__(self, pigments: int = 5) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(pigments, 16), nn.Tanh(), nn.Linear(16, 3))
        self.log_rates = nn.ParameterDict(
            {name.replace(".", "_"): torch.tensor(-2.5) for name, _ in self.body.named_parameters()}
        )

    def guess(self, weights: dict[str, Tensor], tiles: Tensor) -> Tensor:
        return functional_call(self.body, weights, (tiles,))

    def corrected(self, weights: dict[str, Tensor], loss: Tensor) -> dict[str, Tensor]:
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        return {
            name: weight - self.log_rates[name.replace(".", "_")].exp() * slope
            for (name, weight), slope in zip(weights.items(), slopes, strict=True)
        }


def mosaic(tiles: int = 12) -> tuple[Tensor, Tensor]:
    """Pigments of its tiles, and their colours under this workshop's glaze."""
    pigments = torch.randn(tiles, 5)
    glaze = torch.randn(5, 3) * 0.5
    return pigments, torch.sigmoid(pigments @ glaze)


def after_corrections(model: Matcher, recipe: Recipe) -> Tensor:
    pigments, colours = mosaic()
    shown, hidden = slice(0, 6), slice(6, None)
    weights = dict(model.body.named_parameters())
    for _ in range(recipe.corrections):
        loss = F.mse_loss(model.guess(weights, pigments[shown]), colours[shown])
        weights = model.corrected(weights, loss)
    return F.mse_loss(model.guess(weights, pigments[hidden]), colours[hidden])


def main() -> None:
    torch.manual_seed(41)
    recipe = Recipe()
    model = Matcher()
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.outer_rate)
    for step in range(recipe.outer_steps):
        optimizer.zero_grad()
        total = 0.0
        for _ in range(recipe.mosaics):
            loss = after_corrections(model, recipe) / recipe.mosaics
            loss.backward()
            total += loss.item()
        optimizer.step()
        print(f"step {step}: after {recipe.corrections} corrections {total:.4f}")


if __name__ == "__main__":
    main()
