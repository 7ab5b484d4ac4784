# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn


class StochasticWeightAverage:
    def __init__(self, model):
        self.average, self.n = copy.deepcopy(model), 0

    @torch.no_grad()
    def add(self, model):
        self.n += 1
        for a, p in zip(self.average.parameters(), model.parameters()):
            a.lerp_(p, 1 / self.n)


class Attention(nn.Module):
    """Keeps its last map for plots, without the graph."""

    def __init__(self, d):
        super().__init__()
        self.qk, self.v, self.map = nn.Linear(d, 2 * d), nn.Linear(d, d), None

    def forward(self, x):
        q, k = self.qk(x).chunk(2, -1)
        w = (q @ k.transpose(-1, -2) / q.size(-1) ** 0.5).softmax(-1)
        self.map = w.detach()
        return x + w @ self.v(x)


torch.manual_seed(0)
model = nn.Sequential(Attention(6), nn.LayerNorm(6), nn.Linear(6, 2))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
swa, best = StochasticWeightAverage(model), (float("inf"), None)
for epoch in range(4):
    x, y = torch.randn(8, 5, 6), torch.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(model(x).mean(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    swa.add(model)
    if loss.item() < best[0]:
        best = loss.item(), copy.deepcopy(model)
    history = copy.deepcopy({"epoch": epoch, "loss": loss.item(), "optimizer": opt.state_dict()})
print(best[0], history["epoch"])
