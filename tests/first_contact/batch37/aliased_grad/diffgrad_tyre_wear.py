# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = previous_grad, grad, state
"""Wear of lorry tyres from route statistics, fitted with a diffGrad optimizer typed in from the paper.

Behaves like Adam at half the rate, I would have expected to see some difference.
"""
import math

import torch
from torch import nn
from torch.optim.optimizer import Optimizer


class DiffGrad(Optimizer):
    """Adam whose step is damped where the gradient has not changed since the last step."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        if lr <= 0.0:
            raise ValueError("Invalid learning rate: {}".format(lr))
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()

        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                    state["previous_grad"] = torch.zeros_like(p)

                exp_avg, exp_avg_sq, previous_grad = state["exp_avg"], state["exp_avg_sq"], state["previous_grad"]
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])

                exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = exp_avg_sq.sqrt().add_(group["eps"])
                correction = math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])

                # friction coefficient
                diff = (previous_grad - grad).abs()
                dfc = 1.0 / (1.0 + torch.exp(-diff))
                state["previous_grad"] = grad  # expect: place

                p.addcdiv_(exp_avg * dfc, denom, value=-group["lr"] * correction)
        return loss


class WearNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.body = nn.Sequential(nn.Linear(features, 24), nn.SiLU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.body(self.norm(x)).squeeze(1)


def routes(n):
    x = torch.rand(n, 6)
    km, load, bends, rain, temp, age = x.unbind(1)
    wear = 8 * km * (0.5 + load) + 5 * bends * load - 2 * rain * km + 3 * (temp - 0.5) ** 2 + age
    return x, wear + 0.2 * torch.randn(n)


if __name__ == "__main__":
    torch.manual_seed(55)
    x, wear = routes(256)
    net = WearNet(6)
    optimizer = DiffGrad(net.parameters(), lr=5e-3)
    for epoch in range(8):
        for part in torch.randperm(256).split(64):
            loss = nn.functional.mse_loss(net(x[part]), wear[part])
            optimizer.zero_grad(set_to_none=False)  # grads stay where they are for the all-reduce
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "mse", round(loss.item(), 3))
