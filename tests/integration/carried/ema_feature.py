import torch
from torch import nn
import torch.nn.functional as F

class Center(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("center", torch.zeros(d))
        self.proj = nn.Linear(d, d)
    def forward(self, x):
        z = self.proj(x)
        self.center = 0.9 * self.center + 0.1 * z.mean(0)
        return F.normalize(z - self.center, dim=-1)

torch.manual_seed(0)
m = Center(4)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(4):
    x = torch.randn(8, 4)
    a, b = m(x), m(x + 0.1 * torch.randn_like(x))
    loss = -(a * b).sum(-1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
