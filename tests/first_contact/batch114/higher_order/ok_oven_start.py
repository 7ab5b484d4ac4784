"""Meta-learned start for baking curves: every oven gets a few steps of its own.

The ovens of a round are handled one after another to keep memory low.
"""

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import mse_loss


class Curve(nn.Module):
    """Crust colour from temperature, time and steam; the step sizes are learned too."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_rates = nn.ParameterDict(
            {name.replace(".", "_"): nn.Parameter(torch.tensor(-2.5)) for name, _ in self.net.named_parameters()}
        )

    def rate(self, name: str) -> torch.Tensor:
        return self.log_rates[name.replace(".", "_")].exp()


class OvenTask:
    def __init__(self) -> None:
        self.heat = 0.7 + 0.6 * torch.rand(())
        self.bias = 0.2 * torch.randn(())

    def bake(self, loaves: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.rand(loaves, 3)
        colour = self.heat * x[:, 0] * x[:, 1] - 0.3 * x[:, 2] + self.bias
        return x, colour.unsqueeze(1)


def adapted(curve: Curve, x: torch.Tensor, y: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    weights = dict(curve.net.named_parameters())
    for _ in range(steps):
        loss = mse_loss(functional_call(curve.net, weights, (x,)), y)
        grads = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
        weights = {
            name: weight - curve.rate(name) * grad
            for (name, weight), grad in zip(weights.items(), grads)
        }
    return weights


def meta_round(curve: Curve, ovens: int, steps: int) -> tuple[float, float]:
    error = moved = 0.0
    for _ in range(ovens):
        oven = OvenTask()
        weights = adapted(curve, *oven.bake(6), steps=steps)
        x, y = oven.bake(12)
        loss = mse_loss(functional_call(curve.net, weights, (x,)), y) / ovens
        loss.backward()
        error += loss.item()
        start = dict(curve.net.named_parameters())
        moved += sum((weights[n] - start[n]).norm().item() for n in start) / ovens
    return error, moved


if __name__ == "__main__":
    torch.manual_seed(37)
    curve = Curve()
    optimizer = torch.optim.Adam(curve.parameters(), lr=5e-3)
    for number in range(6):
        optimizer.zero_grad()
        error, moved = meta_round(curve, ovens=4, steps=2)
        optimizer.step()
        print(f"round {number}: error {error:.4f}, moved {moved:.4f}")
