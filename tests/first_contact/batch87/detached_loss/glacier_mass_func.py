# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = params, state, loss, told
"""Yearly mass balance of glaciers: a small net with torch.func, smooth along elevation.

The net is written for one stake and goes over all of them under vmap, once more a little higher
up, for the balance should not fall with elevation.
"""
from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap


class Balance(nn.Module):
    def __init__(self, n_weather: int, width: int = 24):
        super().__init__()
        self.register_buffer("centre", torch.tensor(2900.0))
        self.register_buffer("spread", torch.tensor(250.0))
        self.body = nn.Sequential(nn.Linear(1 + n_weather, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 1)

    def forward(self, elevation: Tensor, weather: Tensor) -> Tensor:
        z = (elevation - self.centre) / self.spread
        return self.out(self.body(torch.cat([z.reshape(1), weather]))).squeeze()


def split_state(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Weights and buffers, as functional_call wants them."""
    fixed = {name for name, _ in model.named_buffers()}
    state = model.state_dict()  # expect: place
    params = {k: v for k, v in state.items() if k not in fixed}  # expect: place
    return params, {k: v for k, v in state.items() if k in fixed}


def balance_at(model, params, buffers, elevation, weather):
    return functional_call(model, (params, buffers), (elevation, weather))


def stakes(n: int) -> tuple[Tensor, Tensor, Tensor]:
    elevation = 2400 + 1000 * torch.rand(n)
    weather = torch.randn(n, 3)
    balance = torch.tanh((elevation - 2950) / 300) - 0.4 * weather[:, 0] + 0.2 * weather[:, 1]
    return elevation, weather, balance + 0.05 * torch.randn(n)


def objective(model, params, buffers, batch, rise: float = 50.0, stiffness: float = 5.0):
    elevation, weather, measured = batch
    f = partial(balance_at, model, params, buffers)
    told = vmap(f)(elevation, weather)  # expect: place
    above = vmap(f)(elevation + rise, weather)
    inverted = torch.relu(told - above)
    return ((told - measured) ** 2).mean() + stiffness * (inverted**2).mean()


def fit(model: nn.Module, epochs: int = 30, lr: float = 5e-3) -> list[float]:
    train, test = stakes(60), stakes(30)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    params, buffers = split_state(model)  # expect: place
    curve = []
    for epoch in range(epochs):
        for chosen in torch.randperm(60).split(20):
            batch = tuple(column[chosen] for column in train)
            loss = objective(model, params, buffers, batch)  # expect: place
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
        if epoch % 10 == 9:
            with torch.no_grad():
                told = vmap(partial(balance_at, model, params, buffers))(*test[:2])
            curve.append((told - test[2]).abs().mean().item())
            print(f"epoch {epoch + 1}: mean error {curve[-1]:.3f} m w.e.")
    return curve


if __name__ == "__main__":
    torch.manual_seed(50)
    fit(Balance(3))
