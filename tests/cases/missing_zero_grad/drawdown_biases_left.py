# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = net, bias, rule
"""Well levels under pumping: the draw-down at twelve boreholes, by layers that each keep a trust ratio."""
import torch
from torch import nn


class Trusting(torch.optim.Optimizer):
    """Steps as long as a share of each tensor's own norm."""

    def __init__(self, params, lr=0.02, share=1.0):
        super().__init__(params, {"lr": lr, "share": share})

    def zero_grad(self, set_to_none=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None and p.dim() > 1:  # expect: place
                    p.grad.zero_()  # expect: place

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    ratio = group["share"] * p.norm() / p.grad.norm().clamp_min(1e-8)
                    p.sub_(group["lr"] * ratio.clamp(0.1, 10.0) * p.grad)


class Aquifer:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(12, 20), nn.SiLU(), nn.Linear(20, 12))
        self.rule = Trusting(self.net.parameters())

    def season(self, pumped, drawn):
        gaps = []
        for week in range(len(pumped)):
            self.rule.zero_grad()  # expect: place
            gap = (self.net(pumped[week]) - drawn[week]).pow(2).mean()
            gap.backward()
            self.rule.step()
            gaps.append(gap.item())
        return sum(gaps) / len(gaps)


if __name__ == "__main__":
    aquifer = Aquifer(8)
    pumped = torch.rand(6, 16, 12)
    nearness = torch.exp(-(torch.arange(12)[:, None] - torch.arange(12)).abs().float())
    for season in range(4):
        print(season, round(aquifer.season(pumped, pumped @ nearness), 4))
