# Gradient surgery needs one gradient for each task.
import random

import torch
from torch import nn


class PCGrad:
    def __init__(self, optimizer):
        self._optim = optimizer

    @property
    def params(self):
        return [p for group in self._optim.param_groups for p in group["params"]]

    def _flat_grads(self, objectives):
        grads = []
        for objective in objectives:
            self._optim.zero_grad(set_to_none=False)
            objective.backward(retain_graph=True)
            grads.append(
                torch.cat([
                    (torch.zeros_like(p) if p.grad is None else p.grad).flatten().clone()
                    for p in self.params
                ])
            )
        return grads

    def pc_backward(self, objectives):
        grads = self._flat_grads(objectives)
        projected = [g.clone() for g in grads]
        for g_i in projected:
            for g_j in random.sample(grads, len(grads)):
                dot = g_i @ g_j
                if dot < 0:
                    g_i -= dot / g_j.norm() ** 2 * g_j
        merged, offset = torch.stack(projected).sum(0), 0
        for p in self.params:
            p.grad = merged[offset : offset + p.numel()].view_as(p).clone()
            offset += p.numel()

    def step(self):
        self._optim.step()


class TwoTaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(9, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU())
        self.left, self.right = nn.Linear(20, 1), nn.Linear(20, 1)

    def forward(self, x):
        z = self.shared(x)
        return self.left(z), self.right(z)


random.seed(0)
torch.manual_seed(0)
net = TwoTaskNet()
pc = PCGrad(torch.optim.Adam(net.parameters(), lr=1e-3))
for step in range(4):
    x = torch.randn(32, 9)
    left, right = net(x)
    losses = [(left - x.sum(1, keepdim=True)).pow(2).mean(), (right - x.prod(1, keepdim=True)).abs().mean()]
    pc.pc_backward(losses)
    pc.step()
    print(step, [round(loss.item(), 3) for loss in losses])
