"""Recurrent current-based LIF layer, Euler steps of 1 ms."""
import math

import torch
from torch import nn


class FastSigmoidSpike(torch.autograd.Function):
    slope = 8.0

    @staticmethod
    def forward(ctx, overdrive):
        ctx.save_for_backward(overdrive)
        return (overdrive > 0).to(overdrive.dtype)

    @staticmethod
    def backward(ctx, grad_out):
        (overdrive,) = ctx.saved_tensors
        return grad_out / (1.0 + FastSigmoidSpike.slope * overdrive.abs()) ** 2


spike = FastSigmoidSpike.apply


class RecurrentLIF(nn.Module):
    def __init__(self, n_in, n_hidden, tau_syn=5.0, tau_mem=20.0, threshold=1.0):
        super().__init__()
        self.feed = nn.Linear(n_in, n_hidden, bias=False)
        self.lateral = nn.Linear(n_hidden, n_hidden, bias=False)
        nn.init.normal_(self.feed.weight, std=0.6)
        nn.init.normal_(self.lateral.weight, std=0.15)
        self.alpha = math.exp(-1.0 / tau_syn)
        self.beta = math.exp(-1.0 / tau_mem)
        self.threshold = threshold
        self.n_hidden = n_hidden
        self.syn = self.mem = self.out = None

    def reset_state(self, batch):
        zeros = self.feed.weight.new_zeros(batch, self.n_hidden)
        self.syn, self.mem, self.out = zeros, zeros.clone(), zeros.clone()

    def detach_state(self):  # expect: place
        """Call between segments of one recording."""
        self.syn = self.syn.detach()  # expect: place
        self.mem = self.mem.detach()  # expect: place

    def forward(self, events):
        current = self.feed(events) + self.lateral(self.out.detach())  # expect: place
        self.syn = self.alpha * self.syn + current
        # soft reset; the reset path carries no gradient
        self.mem = self.beta * self.mem + self.syn - self.threshold * self.out.detach()
        self.out = spike(self.mem - self.threshold)  # expect: place
        return self.out
