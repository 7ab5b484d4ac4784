# Losses are divided by their running size, kept in a module's global.
import torch
import torch.nn.functional as F
from torch import nn

_SCALES = {}


def balanced(name, loss, momentum=0.8):
    if name not in _SCALES:
        _SCALES[name] = loss
    else:
        _SCALES[name] = momentum * _SCALES[name].detach() + (1 - momentum) * loss
    return loss / (_SCALES[name] + 1e-6)


def step(net, opt, x):
    code, recon = net(x)
    total = balanced("recon", F.mse_loss(recon, x)) + balanced("sparse", code.abs().mean())
    opt.zero_grad()
    total.backward()
    opt.step()
    return total.item()


class SparseCoder(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.enc, self.dec = nn.Linear(d, k), nn.Linear(k, d, bias=False)

    def forward(self, x):
        code = F.softplus(self.enc(x))
        return code, self.dec(code)


torch.manual_seed(0)
net = SparseCoder(8, 12)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range(6):
    print(i, step(net, opt, torch.randn(16, 8)))
