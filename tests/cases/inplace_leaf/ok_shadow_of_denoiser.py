# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.99):
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


class Denoiser(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.t = nn.Embedding(20, 16)
        self.inp, self.mid, self.out = nn.Linear(d, 16), nn.Linear(16, 16), nn.Linear(16, d)

    def forward(self, x, t):
        h = self.inp(x)
        h += self.t(t)
        h = torch.nn.functional.silu(h)
        h = h + self.mid(h)
        return self.out(h)


torch.manual_seed(0)
betas = torch.linspace(1e-4, 0.1, 20)
abar = torch.cumprod(1 - betas, 0)
model = Denoiser()
ema = EMA(model)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    x0 = torch.randn(16, 8)
    t = torch.randint(0, 20, (16,))
    noise = torch.randn_like(x0)
    xt = x0.mul_(abar[t, None].sqrt()).add_(noise * (1 - abar[t, None]).sqrt())
    loss = (model(xt, t) - noise).square().mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    ema.update(model)
    print(step, loss.item())
