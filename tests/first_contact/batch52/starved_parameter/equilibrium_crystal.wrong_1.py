


"""Deep-equilibrium regressor for a scalar property (band gap) of toy compositions."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def picard(f, z0, tol=1e-4, max_iter=40):
    z = z0
    for k in range(max_iter):
        new = f(z)
        residual = (new - z).norm() / (1e-6 + new.norm())
        z = new
        if residual < tol:
            break
    return z, k + 1


class Cell(nn.Module):
    """contraction z -> tanh(A z + B x); spectral scaling keeps it below one"""

    def __init__(self, n_in, width, bound=0.8):
        super().__init__()
        self.A = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.B = nn.Linear(n_in, width)
        self.bound = bound

    def forward(self, z, x):
        scale = self.bound / torch.linalg.matrix_norm(self.A, ord=2).clamp(min=self.bound)
        return torch.tanh(z @ (scale * self.A).T + self.B(x))


class Equilibrium(nn.Module):
    def __init__(self, cell, width):
        super().__init__()
        self.cell = cell
        self.width = width
        self.iterations = {"forward": 0, "backward": 0}

    def forward(self, x):
        # the solver needs no tape: gradients come from the implicit function theorem
        with torch.no_grad():
            z0 = torch.zeros(len(x), self.width)
            z, self.iterations["forward"] = picard(lambda z: self.cell(z, x), z0)
            z = self.cell(z, x)
        z.requires_grad_()
        if not z.requires_grad:
            return z  # evaluation

        z_in = z.detach().requires_grad_()
        f_in = self.cell(z_in, x)

        def solve_adjoint(g):
            def step(y):
                return torch.autograd.grad(f_in, z_in, y, retain_graph=True)[0] + g

            adjoint, self.iterations["backward"] = picard(step, g)
            return adjoint

        z.register_hook(solve_adjoint)
        return z


class GapModel(nn.Module):
    def __init__(self, n_elements, width=16):
        super().__init__()
        self.implicit = Equilibrium(Cell(n_elements, width), width)
        self.readout = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 8), nn.GELU(), nn.Linear(8, 1))

    def forward(self, composition):
        return self.readout(self.implicit(composition)).squeeze(-1)


def toy_compositions(n, n_elements):
    fractions = torch.distributions.Dirichlet(torch.full((n_elements,), 0.6)).sample((n,))
    electronegativity = torch.linspace(0.8, 3.9, n_elements)
    mean = fractions @ electronegativity
    spread = (fractions @ electronegativity**2 - mean**2).clamp(min=0).sqrt()
    return fractions, 2.5 * spread + 0.4 * torch.sin(2 * mean)


def train(cfg):
    torch.manual_seed(cfg["seed"])
    x, y = toy_compositions(cfg["n"], cfg["elements"])
    model = GapModel(cfg["elements"])
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
    for epoch in range(cfg["epochs"]):
        for idx in torch.randperm(cfg["n"]).split(cfg["batch"]):
            loss = F.mse_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        it = model.implicit.iterations
        print(f"epoch {epoch} mse {loss.item():.4f} solver {it['forward']}/{it['backward']}")


train({"seed": 6, "n": 128, "elements": 9, "epochs": 6, "batch": 32, "lr": 1e-2, "weight_decay": 0.0})
