# expect: pattern = none
# expect: raises = nothing
"""How far does the empirical neural tangent kernel move during training?

Trains a small network on a 1-d signal, measures the kernel every few steps, and compares with
the prediction of kernel regression at initialisation.
"""
import math

import torch
from torch import nn


class NTKLinear(nn.Linear):
    """Linear layer in NTK parametrisation."""

    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        nn.init.normal_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x):
        return nn.functional.linear(x, self.weight / math.sqrt(self.in_features), 0.1 * self.bias)


def network(width):
    return nn.Sequential(NTKLinear(2, width), nn.Tanh(), NTKLinear(width, width), nn.Tanh(), NTKLinear(width, 1))


def jacobian(out, params):
    """One row per output, from one forward pass."""
    rows = []
    for k in range(out.numel()):
        grads = torch.autograd.grad(out[k], params, retain_graph=True)
        rows.append(torch.cat([g.reshape(-1) for g in grads]))
    return torch.stack(rows)


def alignment(a, b):
    return ((a * b).sum() / (a.norm() * b.norm())).item()


class KernelWatch:
    def __init__(self, params):
        self.params = list(params)
        self.first = None
        self.log = []

    def __call__(self, step, out):
        jac = jacobian(out, self.params)
        kernel = jac @ jac.T
        if self.first is None:
            self.first = kernel
        self.log.append((step, alignment(kernel, self.first)))
        return kernel


def circle(n):
    t = torch.linspace(-math.pi, math.pi, n + 1)[:-1]
    return torch.stack([t.cos(), t.sin()], 1), (2 * t).sin() * 0.7


def main(width=48, steps=60, lr=2.0):
    torch.manual_seed(33)
    x, y = circle(16)
    net = network(width)
    watch = KernelWatch(net.parameters())
    opt = torch.optim.SGD(net.parameters(), lr=lr)

    out0 = net(x).squeeze(1)
    kernel0 = watch(0, out0)
    # f_inf on the training points with a little ridge
    solved = torch.linalg.solve(kernel0 + 1e-3 * torch.eye(len(x)), y - out0.detach())
    predicted = out0.detach() + kernel0 @ solved

    history = []
    for step in range(1, steps + 1):
        out = net(x).squeeze(1)
        loss = 0.5 * (out - y).pow(2).mean()
        if step % 15 == 0:
            watch(step, out)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.detach())

    print("loss", [round(v, 4) for v in torch.stack(history)[::15].tolist()])
    print("kernel alignment", [(s, round(a, 4)) for s, a in watch.log])
    with torch.no_grad():
        gap = (net(x).squeeze(1) - predicted).norm() / predicted.norm()
    print(f"relative distance to the kernel prediction: {gap.item():.3f}")


if __name__ == "__main__":
    main()
