# expect: pattern = none
# expect: raises = nothing
import math
import torch
from torch import nn


class Siren(nn.Module):
    def __init__(self, widths, omega=30.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.omega = omega
        self.reset()

    @torch.no_grad()
    def reset(self):
        for i, layer in enumerate(self.layers):
            bound = 1 / layer.in_features if i == 0 else math.sqrt(6 / layer.in_features) / self.omega
            layer.weight.uniform_(-bound, bound)
            layer.bias.zero_()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x)
            x *= self.omega
            x = torch.sin(x)
        return self.layers[-1](x)


class Prune:
    """Keeps the smallest weights at zero after each step."""

    def __init__(self, module, share):
        self.masks = {p: p.detach().abs() > p.detach().abs().quantile(share) for p in module.parameters() if p.dim() > 1}

    def apply(self):
        with torch.no_grad():
            for p, mask in self.masks.items():
                p *= mask


torch.manual_seed(0)
net = Siren([2, 16, 16, 1])
prune = Prune(net, 0.2)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
grid = torch.cartesian_prod(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8))
image = (grid ** 2).sum(1, keepdim=True)
for epoch in range(4):
    loss = (net(grid) - image).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    prune.apply()
    print(epoch, loss.item())
