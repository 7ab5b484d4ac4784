"""Physics-informed network for the viscous Burgers equation u_t + u u_x = nu u_xx."""
import logging
import math

import numpy as np
import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
logger = logging.getLogger("pinn")

CONFIG = {
    "layers": [2, 24, 24, 1],
    "nu": 0.1,
    "n_collocation": 128,
    "n_initial": 32,
    "n_boundary": 16,
    "iterations": 20,
    "lr": 2e-3,
    "weights": {"pde": 1.0, "ic": 5.0, "bc": 1.0},
    "seed": 1234,
}


class FullyConnected(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:]))
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x, t):
        h = torch.cat([x, t], dim=1)
        for linear in self.linears[:-1]:
            h = torch.tanh(linear(h))
        return self.linears[-1](h)


class Sampler:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg["seed"])

    def _column(self, low, high, n):
        return torch.tensor(self.rng.uniform(low, high, (n, 1)), dtype=torch.float32)

    def interior(self):
        n = self.cfg["n_collocation"]
        return self._column(-1, 1, n).requires_grad_(), self._column(0, 1, n).requires_grad_()

    def initial(self):
        x = self._column(-1, 1, self.cfg["n_initial"])
        return x, torch.zeros_like(x), -torch.sin(math.pi * x)

    def boundary(self):
        t = self._column(0, 1, self.cfg["n_boundary"])
        return torch.cat([torch.ones_like(t), -torch.ones_like(t)]), torch.cat([t, t])


class BurgersPINN:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = FullyConnected(cfg["layers"])
        self.sampler = Sampler(cfg)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])

    def residual(self, x, t):
        u = self.net(x, t)
        ones = torch.ones_like(u)
        du_dt = torch.autograd.grad(u, t, grad_outputs=ones, create_graph=True)[0]
        du_dx = torch.autograd.grad(u, x, grad_outputs=ones, create_graph=True)[0]
        d2u_dx2 = torch.autograd.grad(du_dx, x, grad_outputs=ones, retain_graph=True)[0]
        return du_dt + u * du_dx - self.cfg["nu"] * d2u_dx2

    def losses(self):
        pde = self.residual(*self.sampler.interior()).pow(2).mean()
        x0, t0, u0 = self.sampler.initial()
        ic = nn.functional.mse_loss(self.net(x0, t0), u0)
        bc = self.net(*self.sampler.boundary()).pow(2).mean()
        return {"pde": pde, "ic": ic, "bc": bc}

    def train(self):
        for it in range(self.cfg["iterations"]):
            self.optimizer.zero_grad()
            terms = self.losses()
            total = sum(self.cfg["weights"][name] * term for name, term in terms.items())
            total.backward()
            self.optimizer.step()
            if it % 5 == 0:
                logger.info("it %d  %s", it, {k: round(v.item(), 4) for k, v in terms.items()})


if __name__ == "__main__":
    torch.manual_seed(CONFIG["seed"])
    BurgersPINN(CONFIG).train()
