# expect: pattern = lbfgs-closure
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rendered, misfit, loss, objective, profile
"""Tune the profile of a cast bell: find the thickness that gives the partials one wants.

An LBFGS fit of a radial profile through a chain of shells; the solver is a registry entry so that
other ones can be tried from the command line.
"""
import argparse

import torch
from torch import nn

SOLVERS = {}


def solver(name):
    def enter(function):
        SOLVERS[name] = function
        return function
    return enter


class BellProfile(nn.Module):
    """Thickness of the shells from crown to lip, smooth and positive."""

    def __init__(self, shells=12, knots=6):
        super().__init__()
        self.knots = nn.Parameter(torch.zeros(knots))
        grid = torch.linspace(0, knots - 1, shells)
        distance = (grid[:, None] - torch.arange(knots)).abs()
        self.register_buffer("basis", (1 - distance).clamp(min=0))

    def forward(self):
        return 0.5 + nn.functional.softplus(self.basis @ self.knots)


def partials(thickness, count=5):
    """Lowest modes of a chain whose links are as stiff as the wall is thick."""
    stiffness = thickness.pow(3)
    links = stiffness[:-1] + stiffness[1:]
    main = torch.cat((links, links[-1:])) + torch.cat((links[:1], links))
    matrix = torch.diag(main) - torch.diag(links, 1) - torch.diag(links, -1)
    mass = thickness.rsqrt()
    return torch.linalg.eigvalsh(mass[:, None] * matrix * mass)[:count].sqrt()


class Objective:
    def __init__(self, wanted, smoothness):
        self.wanted, self.smoothness = wanted, smoothness

    def misfit(self, heard):
        return (torch.log2(heard / self.wanted) * 12).pow(2).mean()

    def roughness(self, thickness):
        return self.smoothness * thickness.diff().pow(2).sum()


@solver("adam")
def fit_adam(profile, objective, rounds):
    optimizer = torch.optim.Adam(profile.parameters(), lr=0.05)
    for _ in range(rounds * 10):
        optimizer.zero_grad()
        thickness = profile()
        loss = objective.misfit(partials(thickness)) + objective.roughness(thickness)
        loss.backward()
        optimizer.step()
        yield loss.item()


@solver("lbfgs")
def fit_lbfgs(profile, objective, rounds):
    optimizer = torch.optim.LBFGS(profile.parameters(), lr=0.5, max_iter=8)
    for _ in range(rounds):
        thickness = profile()  # expect: place
        heard = partials(thickness)  # expect: place

        def closure():
            optimizer.zero_grad()
            loss = objective.misfit(heard) + objective.roughness(thickness)  # expect: place
            loss.backward()  # expect: place
            return loss

        yield optimizer.step(closure).item()  # expect: place


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--solver", choices=sorted(SOLVERS), default="lbfgs")
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()

    torch.manual_seed(0)
    with torch.no_grad():
        cast = BellProfile()
        cast.knots.copy_(torch.tensor([0.8, 0.3, -0.2, 0.1, 0.6, 1.2]))
        wanted = partials(cast())
    profile = BellProfile()
    objective = Objective(wanted, smoothness=0.02)
    for n, loss in enumerate(SOLVERS[args.solver](profile, objective, args.rounds)):
        print(f"round {n}: {loss:.5f}")
    print("thickness", [round(v, 2) for v in profile().tolist()])


if __name__ == "__main__":
    main()
