"""The surrogate itself and how it is fitted to the fired tiles."""

from scaling import PowerWarp, RangeScaler
from torch import Tensor, nn
from torch.optim import Adam


def build_surrogate(width: int, hidden: int = 24) -> nn.Sequential:
    return nn.Sequential(
        PowerWarp(width),
        RangeScaler(width),
        nn.Linear(width, hidden),
        nn.Tanh(),
        nn.Linear(hidden, 1),
    )


def fit(model: nn.Module, recipes: Tensor, gloss: Tensor, steps: int = 25, lr: float = 0.02) -> float:
    optimizer = Adam(model.parameters(), lr=lr)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        error = (model(recipes).squeeze(-1) - gloss).square().mean()
        error.backward()
        optimizer.step()
    return error.item()
