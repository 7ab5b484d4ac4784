import math
import torch
from torch import nn


class CosineLinear(nn.Module):
    """Classifier whose logits are scaled cosines."""

    def __init__(self, in_features, n_classes, scale=10.0):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_classes, in_features))
        self.scale = nn.Parameter(torch.tensor(scale))
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.weight.size(1))
        with torch.no_grad():
            self.weight.uniform_(-bound, bound)

    def forward(self, x):
        x = nn.functional.normalize(x, dim=1)
        w = nn.functional.normalize(self.weight, dim=1)
        return self.scale * x @ w.t()


def run(steps=5):
    torch.manual_seed(42)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), CosineLinear(16, 4))
    optim = torch.optim.Adam(model.parameters(), lr=1e-2)
    for i in range(steps):
        x = torch.randn(24, 10)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(i, loss.item())


if __name__ == "__main__":
    run()
