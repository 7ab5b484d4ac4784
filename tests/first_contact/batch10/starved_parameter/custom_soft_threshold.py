# expect: pattern = starved-parameter
# expect: carrier = t, threshold, grad
"""Learned shrinkage (unrolled ISTA) for sparse spike trains; the threshold has a hand-written gradient."""
import torch
from torch.autograd import Function


class Shrink(Function):
    @staticmethod
    def forward(ctx, x, t):
        y = torch.sign(x) * torch.clamp(x.abs() - t, min=0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        alive = (y != 0).to(grad.dtype)
        return grad * alive, None  # expect: place


class Ista(torch.nn.Module):
    def __init__(self, n, m, rounds=4):
        super().__init__()
        self.W = torch.nn.Parameter(0.1 * torch.randn(n, m))
        self.t = torch.nn.Parameter(torch.tensor(0.05))
        self.rounds = rounds

    def forward(self, y):
        z = torch.zeros(len(y), self.W.shape[1])
        for _ in range(self.rounds):
            z = Shrink.apply(z + 0.5 * (y - z @ self.W.t()) @ self.W, self.t)  # expect: place
        return z


torch.manual_seed(9)
A = torch.randn(12, 20) / 12 ** 0.5
net = Ista(12, 20)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(8):
    spikes = torch.randn(32, 20) * (torch.rand(32, 20) < 0.1)
    loss = (net(spikes @ A.t()) - spikes).square().sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, round(loss.item(), 4), float(net.t))
