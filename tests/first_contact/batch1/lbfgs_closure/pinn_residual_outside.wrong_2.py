"""Physics-informed fit of u'' = -u with Adam warm-up and LBFGS afterwards."""
import math

import torch
import torch.nn as nn


class Field(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1, width), nn.Linear(width, width), nn.Linear(width, 1)])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


def d(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


class Solver:
    def __init__(self, n=24):
        self.net = Field()
        self.x = torch.linspace(0, math.pi, n).unsqueeze(1).requires_grad_()
        self.edge = torch.tensor([[0.0], [math.pi / 2]])
        self.edge_value = torch.tensor([[0.0], [1.0]])

    def loss(self):
        u = self.net(self.x)
        residual = d(d(u, self.x), self.x) + u
        return residual.pow(2).mean() + 5 * (self.net(self.edge) - self.edge_value).pow(2).mean()

    def warm_up(self, steps=20):
        adam = torch.optim.Adam(self.net.parameters(), lr=5e-3)
        for _ in range(steps):
            adam.zero_grad()
            loss = self.loss()
            loss.backward()
            adam.step()
        return loss.item()

    def polish(self, rounds=3):
        lbfgs = torch.optim.LBFGS(self.net.parameters(), lr=0.5, max_iter=6, history_size=8)
        for _ in range(rounds):
            def closure():
                lbfgs.zero_grad()
                loss = self.loss()
                return loss

            loss = lbfgs.step(closure)
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(44)
    solver = Solver()
    print("after Adam  %.4f" % solver.warm_up())
    print("after LBFGS %.4f" % solver.polish())
