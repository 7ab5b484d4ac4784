# expect: pattern = inplace-activation
# expect: also = inplace-view, inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = z, x
# RealNVP style density model for two interleaved rings
import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def forward(self, z):
        if self.flip:
            z = z.flip(1)
        s, t = self.net(z[:, :self.half]).chunk(2, dim=1)  # expect: place
        s = torch.tanh(s)
        z[:, self.half:] = z[:, self.half:] * s.exp() + t  # expect: place
        return z, s.sum(1)


class Flow(nn.Module):
    def __init__(self, n_layers=4, dim=4):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(dim, 16, flip=bool(i % 2)) for i in range(n_layers))

    def log_prob(self, x):
        z, total = x.clone(), 0.0
        for layer in self.layers:
            z, logdet = layer(z)
            total = total + logdet
        return total - 0.5 * z.pow(2).sum(1)


torch.manual_seed(21)
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
for i in range(5):
    angle = torch.rand(50, 1) * 6.2832
    x = torch.cat([angle.cos(), angle.sin(), 2 * angle.cos(), 2 * angle.sin()], dim=1)
    nll = -flow.log_prob(x).mean()
    opt.zero_grad()
    nll.backward()  # expect: place
    opt.step()
    print("nll", nll.item())
