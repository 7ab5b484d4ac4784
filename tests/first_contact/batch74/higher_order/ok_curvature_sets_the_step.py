# expect: pattern = none
# expect: raises = nothing

"""Gradient descent whose step size follows the largest curvature, found by power iteration."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Curvature:
    def __init__(self, params, iterations=6, tol=1e-3):
        self.params = [p for p in params if p.requires_grad]
        self.iterations, self.tol = iterations, tol
        self.v = self.unit([torch.randn_like(p) for p in self.params])

    @staticmethod
    def unit(vs):
        norm = torch.sqrt(sum((v * v).sum() for v in vs)) + 1e-12
        return [v / norm for v in vs]

    def top_eigenvalue(self, loss):
        grads = torch.autograd.grad(loss, self.params, create_graph=True)
        value = None
        for _ in range(self.iterations):
            hv = torch.autograd.grad(grads, self.params, grad_outputs=self.v, retain_graph=True)
            new = sum((a * b).sum() for a, b in zip(hv, self.v)).item()
            self.v = self.unit([h.detach() for h in hv])
            if value is not None and abs(new - value) < self.tol * abs(value):
                break
            value = new
        return abs(new), [g.detach() for g in grads]


def kiln_batch(n, generator):
    x = torch.rand(n, 3, generator=generator) * 2 - 1
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:]
    return x, y + 0.05 * torch.randn(n, 1, generator=generator)


torch.manual_seed(3)
generator = torch.Generator().manual_seed(3)
model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
curvature = Curvature(model.parameters())
curve = []
for step in range(30):
    x, y = kiln_batch(64, generator)
    loss = F.mse_loss(model(x), y)
    top, grads = curvature.top_eigenvalue(loss)
    for p, g in zip(curvature.params, grads):
        p.grad = g
    for group in optimizer.param_groups:
        group["lr"] = min(0.5, 1.0 / max(top, 1e-3))
    optimizer.step()
    curve.append(loss.item())
    if step % 10 == 9:
        print("step %d  loss %.4f  top eigenvalue %.3f" % (step, curve[-1], top))
