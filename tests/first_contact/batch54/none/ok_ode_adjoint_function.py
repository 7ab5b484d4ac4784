# expect: pattern = none
# expect: raises = nothing
"""Continuous-depth classifier with a hand-written adjoint, Euler steps.

The solver's forward keeps no graph; its backward re-builds one small graph a step
and walks it with a vector-Jacobian product.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class AdjointEuler(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z0, field, n_steps, *params):
        h = 1.0 / n_steps
        z, path = z0, [z0]
        for i in range(n_steps):
            z = z + h * field(i * h, z)
            path.append(z)
        ctx.field, ctx.n_steps = field, n_steps
        ctx.save_for_backward(*path)
        return z

    @staticmethod
    def backward(ctx, grad_out):
        path, field, n = ctx.saved_tensors, ctx.field, ctx.n_steps
        params = tuple(field.parameters())
        h = 1.0 / n
        adj = grad_out
        grads = [torch.zeros_like(p) for p in params]
        for i in reversed(range(n)):
            with torch.enable_grad():
                z = path[i].detach().requires_grad_()
                dz = field(i * h, z)
            vjp = torch.autograd.grad(dz, (z, *params), h * adj)
            adj = adj + vjp[0]
            for total, part in zip(grads, vjp[1:]):
                total += part
        return (adj, None, None, *grads)


class Field(nn.Module):
    def __init__(self, dim, hidden=24):
        super().__init__()
        self.a = nn.Linear(dim + 1, hidden)
        self.b = nn.Linear(hidden, dim)

    def forward(self, t, z):
        clock = torch.full_like(z[:, :1], t)
        return self.b(torch.tanh(self.a(torch.cat([z, clock], dim=1))))


class Continuous(nn.Module):
    def __init__(self, dim=4, classes=2, n_steps=10):
        super().__init__()
        self.lift = nn.Linear(2, dim)
        self.field = Field(dim)
        self.out = nn.Linear(dim, classes)
        self.n_steps = n_steps

    def forward(self, x):
        z = self.lift(x)
        z = AdjointEuler.apply(z, self.field, self.n_steps, *self.field.parameters())
        return self.out(z)


def two_currents(n, gen):
    """Drifters caught by one of two spiral eddies."""
    y = torch.randint(0, 2, (n,), generator=gen)
    r = 0.3 + 1.7 * torch.rand(n, generator=gen)
    angle = 2.0 * r + torch.pi * y
    x = torch.stack([r * torch.cos(angle), r * torch.sin(angle)], dim=1)
    return x + 0.05 * torch.randn(n, 2, generator=gen), y


def main():
    torch.manual_seed(12)
    gen = torch.Generator().manual_seed(13)
    net = Continuous()
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    for it in range(60):
        x, y = two_currents(128, gen)
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 15 == 0 or it == 59:
            acc = (logits.argmax(1) == y).float().mean().item()
            print(f"it {it:3d}  loss {loss.item():.4f}  acc {acc:.3f}")


if __name__ == "__main__":
    main()
