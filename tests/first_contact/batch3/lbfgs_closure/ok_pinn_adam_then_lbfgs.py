"""Logistic growth as a physics-informed net: a warm-up with Adam, then L-BFGS; the rate is learned too."""
import torch
import torch.nn as nn


class Growth(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
        self.rate = nn.Parameter(torch.tensor(0.5))

    def forward(self, t):
        return 0.1 + t * self.net(t)

    def residual(self, t):
        t = t.clone().requires_grad_(True)
        u = self(t)
        (du,) = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)
        return du - self.rate * u * (1 - u)


def exact(t, rate=1.5, u0=0.1):
    return 1 / (1 + (1 - u0) / u0 * torch.exp(-rate * t))


def losses(model, t, obs_t, obs_u):
    return {"physics": model.residual(t).pow(2).mean(), "data": (model(obs_t) - obs_u).pow(2).mean()}


def main():
    torch.manual_seed(8)
    model = Growth()
    t = torch.linspace(0, 3, 30)[:, None]
    obs_t = torch.tensor([[0.5], [1.2], [2.0], [2.8]])
    obs_u = exact(obs_t)
    history = []

    def total():
        parts = losses(model, t, obs_t, obs_u)
        history.append({k: v.item() for k, v in parts.items()})
        return sum(parts.values())

    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(20):
        adam.zero_grad()
        total().backward()
        adam.step()

    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=15, line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad()
        loss = total()
        loss.backward()
        return loss

    for _ in range(2):
        lbfgs.step(closure)
    print(len(history), history[-1], "rate %.3f" % model.rate.item())


main()
