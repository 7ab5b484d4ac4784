# expect: pattern = none
"""An own optimizer: fast steps with slow weights that follow, plus a kept copy of the last gradient."""
import torch
from torch import nn


class SlowFast(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, pull=0.5, every=5, momentum=0.9):
        super().__init__(params, dict(lr=lr, pull=pull, every=every, momentum=momentum))
        self.count = 0
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["slow"] = p.detach().clone()
                self.state[p]["speed"] = torch.zeros_like(p.data)

    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                st["last"] = p.grad.clone()
                st["speed"].mul_(group["momentum"]).add_(p.grad)
                p.sub_(st["speed"], alpha=group["lr"])
                if self.count % group["every"] == 0:
                    st["slow"].lerp_(p, group["pull"])
                    p.copy_(st["slow"])

    def turn(self):
        """Cosine between this gradient and the one before, over all weights."""
        now, last = [], []
        for group in self.param_groups:
            for p in group["params"]:
                if "last" in self.state[p] and p.grad is not None:
                    now.append(p.grad.flatten())
                    last.append(self.state[p]["last"].flatten())
        if not now:
            return 1.0
        return nn.functional.cosine_similarity(torch.cat(now), torch.cat(last), dim=0).item()


def spiral(n):
    turn = torch.rand(n) * 3
    arm = torch.randint(0, 2, (n,))
    angle = 2 * turn + 3.1416 * arm
    dots = torch.stack([turn * torch.cos(angle), turn * torch.sin(angle)], 1)
    return dots + 0.05 * torch.randn(n, 2), arm


def main():
    torch.manual_seed(18)
    net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(inplace=True), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    opt = SlowFast(net.parameters())
    seen, total = [], 0.0
    for step in range(60):
        dots, arm = spiral(64)
        loss = nn.functional.cross_entropy(net(dots), arm)
        opt.zero_grad()
        loss.backward()
        seen.append(opt.turn())
        opt.step()
        total += loss.item()
        if step % 20 == 19:
            print(f"step {step + 1}: mean loss {total / 20:.4f}, mean turn {sum(seen) / len(seen):+.3f}")
            total, seen = 0.0, []


main()
