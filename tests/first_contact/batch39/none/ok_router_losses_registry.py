"""Tidal current classes with a mixture of experts. The routers put their balance losses into a registry, by layer and
by micro-batch, from a forward hook; the trainer takes them out again when the window is full."""
from collections import defaultdict, deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class AuxLosses:
    def __init__(self):
        self.pending = defaultdict(dict)
        self.history = {}
        self.recent = deque(maxlen=16)

    def hook(self, name):
        def collect(module, inputs, output):
            if module.training and module.micro % 2 == 0:
                gates = module.gates
                share = F.one_hot(gates.argmax(-1), gates.size(-1)).float().mean(0)
                self.pending[name][module.micro] = gates.size(-1) * (share * gates.mean(0)).sum()
        return collect

    def drain(self, step):
        layers = {name: sum(parts.values()) / len(parts) for name, parts in self.pending.items()}
        self.pending.clear()
        if step % 3 == 0:
            self.history[f"step{step}"] = {name: value.detach() for name, value in layers.items()}
        total = sum(layers.values())
        self.recent.append(float(total))
        return total


class MoE(nn.Module):
    def __init__(self, dim, experts=3):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, dim), nn.GELU()) for _ in range(experts))
        self.micro = 0

    def forward(self, x):
        self.gates = self.router(x).softmax(-1)
        mixed = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return x + (mixed * self.gates.unsqueeze(-2)).sum(-1)


class Net(nn.Module):
    def __init__(self, features, dim, classes):
        super().__init__()
        self.inp = nn.Linear(features, dim)
        self.blocks = nn.ModuleDict({"flood": MoE(dim), "ebb": MoE(dim)})
        self.out = nn.Linear(dim, classes)

    def forward(self, x, micro):
        x = torch.tanh(self.inp(x))
        for block in self.blocks.values():
            block.micro = micro
            x = block(x)
        return self.out(x)


torch.manual_seed(30)
x = torch.randn(256, 6)
y = (x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
net, aux = Net(6, 16, 3), AuxLosses()
for name, block in net.blocks.items():
    block.register_forward_hook(aux.hook(name))
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)

window, losses = 4, {}
for step in range(15):
    for micro, idx in enumerate(torch.randperm(len(x))[:128].split(32)):
        losses[micro] = F.cross_entropy(net(x[idx], micro), y[idx])
    task = sum(losses.values()) / window
    loss = task + 0.02 * aux.drain(step)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.clear()
    if step % 5 == 4:
        print(f"{step:3d} task {task.item():.4f} balance {aux.recent[-1]:.3f}")
for key, row in aux.history.items():
    print(key, {name: round(v.item(), 3) for name, v in row.items()})
