from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class LayerState(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


class StackedLSTM(nn.Module):
    def __init__(self, d, h, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.LSTMCell(d if i == 0 else h, h) for i in range(depth))
        self.proj = nn.Linear(h, d)

    def zero_state(self, batch):
        return [LayerState(torch.zeros(batch, c.hidden_size), torch.zeros(batch, c.hidden_size)) for c in self.layers]

    def forward(self, xs, states):
        outs = []
        for x in xs:
            new = []
            for cell, s in zip(self.layers, states):
                x, c = cell(x, (s.h, s.c))
                new.append(LayerState(x, c))
            states = new
            outs.append(self.proj(x))
        return torch.stack(outs), states


class Module:
    automatic_optimization = False

    def __init__(self, **hparams: Any):
        self.hparams = hparams
        self.net = StackedLSTM(hparams["d"], hparams["h"], hparams["depth"])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=hparams["lr"])
        self.states = self.net.zero_state(hparams["batch"])

    def training_step(self, xs):
        out, self.states = self.net(xs[:-1], self.states)
        loss = F.smooth_l1_loss(out, xs[1:])
        self.opt.zero_grad()
        self.manual_backward(loss)
        self.opt.step()
        return loss.item()

    def manual_backward(self, loss):
        loss.backward(retain_graph=True)


torch.manual_seed(0)
module = Module(d=3, h=8, depth=2, lr=3e-3, batch=4)
for window in torch.randn(24, 4, 3).cumsum(0).split(6):
    print(module.training_step(window))
