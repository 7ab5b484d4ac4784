# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = self.kernel
import copy
import torch
import torch.nn.functional as F
from torch import nn


class WeightNormLinear(nn.Module):
    """Weight = g * v / |v|, computed once when the layer is built and again before every batch."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.v = nn.Parameter(torch.randn(n_out, n_in) * 0.1)
        self.g = nn.Parameter(torch.ones(n_out, 1))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.refresh()

    def refresh(self):
        self.kernel = self.g * self.v / self.v.norm(dim=1, keepdim=True)  # expect: place

    def forward(self, x):
        self.refresh()
        return F.linear(x, self.kernel, self.bias)


torch.manual_seed(3)
online = nn.Sequential(WeightNormLinear(5, 16), nn.Tanh(), WeightNormLinear(16, 2))
target = copy.deepcopy(online)  # expect: place
opt = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(10, 5)
    with torch.no_grad():
        wanted = 0.9 * target(x) + x[:, :2]
    loss = F.mse_loss(online(x), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
