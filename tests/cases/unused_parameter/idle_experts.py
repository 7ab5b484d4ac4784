# expect: pattern = unused-parameter
# expect: raises = AttributeError: 'NoneType' object has no attribute
# expect: carrier = p, p.grad
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, d=6, experts=4, k=1):
        super().__init__()
        self.gate = nn.Linear(d, experts)
        self.experts = nn.ModuleList(nn.Linear(d, d) for _ in range(experts))
        self.k = k

    def forward(self, x):
        w, idx = self.gate(x).softmax(-1).topk(self.k, -1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            hit = (idx == e).any(-1)
            if hit.any():
                out[hit] = expert(x[hit]) * w[hit]
        return out


def global_norm(model):
    total = 0.0
    for p in model.parameters():
        total += p.grad.data.norm(2).item() ** 2  # expect: place
    return total ** 0.5


def main():
    torch.manual_seed(0)
    model = MoE()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(4):
        x = torch.randn(2, 6)
        loss = (model(x) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        n = global_norm(model)
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(min(1.0, 1.0 / (n + 1e-6)))
        opt.step()
        print(step, loss.item(), n)


main()
