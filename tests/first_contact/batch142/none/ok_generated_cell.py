"""One small regressor per patient group, its weights written by a generator from the group's traits."""
# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)

GROUPS, TRAITS, INPUTS, HIDDEN = 6, 4, 5, 8


class WrittenLinear(nn.Linear):
    """A linear layer that owns no weights: somebody writes them before each call."""

    def __init__(self, fan_in, fan_out):
        super().__init__(fan_in, fan_out)
        del self.weight, self.bias

    @property
    def size(self):
        return self.out_features * (self.in_features + 1)

    def write(self, flat):
        matrix = flat.view(self.out_features, self.in_features + 1)
        self.weight, self.bias = matrix[:, :-1], matrix[:, -1]


class Generator(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        self.trunk = nn.Sequential(nn.Linear(TRAITS, 24), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(24, layer.size) for layer in layers)

    def forward(self, traits):
        code = self.trunk(traits)
        for layer, head in zip(self.layers, self.heads):
            layer.write(0.3 * head(code))


cell = [WrittenLinear(INPUTS, HIDDEN), WrittenLinear(HIDDEN, 1)]
generator = Generator(cell)
optimizer = torch.optim.Adam(generator.parameters(), lr=5e-3)
traits = torch.randn(GROUPS, TRAITS)
slope = traits @ torch.randn(TRAITS, INPUTS)

for step in range(80):
    group = step % GROUPS
    x = torch.randn(32, INPUTS)
    y = torch.tanh(x @ slope[group]) + 0.05 * torch.randn(32)
    generator(traits[group])
    dose = cell[1](torch.tanh(cell[0](x))).squeeze(1)
    loss = F.mse_loss(dose, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step}: loss {loss.item():.3f}")
