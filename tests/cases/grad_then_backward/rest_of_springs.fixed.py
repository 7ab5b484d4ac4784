"""Springs under a load: a layer that rests where its forces balance, with a backward of its own."""
import torch
from torch import nn


class Rest(torch.autograd.Function):
    """The point to which `press` leads; its gradient is the sum of a series, term by term."""

    @staticmethod
    def forward(ctx, press, x, *weights):
        z = torch.zeros_like(x)
        for _ in range(20):
            z = press(z, x)
        ctx.press, ctx.x = press, x.detach()
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, gradient):
        (z,) = ctx.saved_tensors
        with torch.enable_grad():
            z, x = z.detach().requires_grad_(), ctx.x.requires_grad_()
            pressed = ctx.press(z, x)
        total = term = gradient
        for _ in range(6):
            (term,) = torch.autograd.grad(pressed, z, term, retain_graph=True)
            total = total + term
        weights = list(ctx.press.parameters())
        found = torch.autograd.grad(pressed, [x, *weights], total)
        return None, *found


class Press(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.load = nn.Linear(size, size)
        self.hold = nn.Linear(size, size, bias=False)
        nn.init.normal_(self.hold.weight, std=0.1)

    def forward(self, z, x):
        return torch.tanh(self.load(x) + self.hold(z))


torch.manual_seed(15)
press, read = Press(6), nn.Linear(6, 1)
optimizer = torch.optim.Adam([*press.parameters(), *read.parameters()], lr=1e-2)
for trial in range(8):
    load = torch.randn(16, 6)
    sag = read(Rest.apply(press, load, *press.parameters())).squeeze(1)
    loss = (sag - load.sum(1).sin()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
