# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = linear, self.linear
"""Neural ODE on a spiral; the linear part of the field is kept antisymmetric by construction."""
import torch
import torch.nn as nn


class Field(nn.Module):
    def __init__(self, dim=2, width=20, damping=0.05):
        super().__init__()
        self.raw = nn.Parameter(0.3 * torch.randn(dim, dim))
        self.log_damping = nn.Parameter(torch.tensor(float(damping)).log())
        self.residual = nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, dim))
        with torch.no_grad():
            self.residual[-1].weight.mul_(0.1)
        self.linear = (self.raw - self.raw.t()) - self.log_damping.exp() * torch.eye(dim)  # expect: place

    def forward(self, t, y):
        return y @ self.linear.t() + self.residual(y)  # expect: place


class RK4:
    def __init__(self, field):
        self.field = field

    def _step(self, t, y, h):
        k1 = self.field(t, y)
        k2 = self.field(t + h / 2, y + h * k1 / 2)
        k3 = self.field(t + h / 2, y + h * k2 / 2)
        k4 = self.field(t + h, y + h * k3)
        return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6

    def __call__(self, y, ts):
        out = [y]
        for a, b in zip(ts, ts[1:]):
            y = self._step(a, y, b - a)
            out.append(y)
        return torch.stack(out)


def reference(y0, ts):
    a = torch.tensor([[-0.1, 1.4], [-1.4, -0.1]])
    return torch.stack([y0 @ torch.matrix_exp(a * t).t() for t in ts])


def main(iterations=8):
    torch.manual_seed(3)
    ts = torch.linspace(0, 1.5, 10)
    field = Field()
    solve = RK4(field)
    optimizer = torch.optim.Adam(field.parameters(), lr=2e-2)
    for i in range(iterations):
        y0 = torch.randn(12, 2)
        loss = (solve(y0, ts) - reference(y0, ts)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        print("iteration", i, "loss", round(loss.item(), 5))


if __name__ == "__main__":
    main()
