"""Kettle, referee or train? Whistles told apart by a spiking net.

A recording is heard in pieces. Every piece is walked as soon as it was heard and the membranes are
cut there; the gradients of all pieces of a recording add up, and one step follows.
"""
import torch
from torch import nn


class FastSigmoid(torch.autograd.Function):
    slope = 10.0

    @staticmethod
    def forward(ctx, over):
        ctx.save_for_backward(over)
        return (over > 0).to(over.dtype)

    @staticmethod
    def backward(ctx, grad):
        over, = ctx.saved_tensors
        return grad / (FastSigmoid.slope * over.abs() + 1) ** 2


class LIF(nn.Module):
    def __init__(self, n_in, n_out, recurrent=False):
        super().__init__()
        self.w = nn.Linear(n_in, n_out)
        self.rec = nn.Linear(n_out, n_out, bias=False) if recurrent else None
        self.decay = nn.Parameter(torch.full((n_out,), 1.5))
        self.mem = self.spk = None

    def reset(self):
        self.mem = self.spk = None

    def cut(self):
        self.mem.detach_()
        self.spk.detach_()

    def forward(self, x):
        current = self.w(x)
        if self.mem is None:
            self.mem = torch.zeros_like(current)
            self.spk = torch.zeros_like(current)
        if self.rec is not None:
            current = current + self.rec(self.spk)
        gone = self.spk.detach()  # the reset itself is not learnt
        self.mem = torch.sigmoid(self.decay) * self.mem * (1 - gone) + current
        self.spk = FastSigmoid.apply(self.mem - 1.0)
        return self.spk


class Ear(nn.Module):
    def __init__(self, bands=8, hidden=20, classes=3):
        super().__init__()
        self.l1 = LIF(bands, hidden, recurrent=True)
        self.l2 = LIF(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    @property
    def spiking(self):
        return [m for m in self.modules() if isinstance(m, LIF)]

    def forward(self, piece):
        rate, fired = 0, 0
        for frame in piece:
            s = self.l2(self.l1(frame))
            fired = fired + s.mean()
            rate = rate + self.out(s)
        return rate / len(piece), fired / len(piece)


def whistles(n, frames=24, bands=8):
    y = torch.randint(3, (n,))
    centre = torch.stack([1 + y * 2.0 + 0.8 * torch.sin(0.3 * (y + 1) * t) for t in torch.arange(float(frames))])
    sound = torch.exp(-(torch.arange(float(bands)) - centre[..., None]) ** 2) * 2
    return sound + 0.1 * torch.rand(frames, n, bands), y


torch.manual_seed(21)
ear = Ear()
opt = torch.optim.Adam(ear.parameters(), lr=1e-2)
ce = nn.CrossEntropyLoss()
for recording in range(24):
    sound, y = whistles(24)
    for lif in ear.spiking:
        lif.reset()
    opt.zero_grad()
    heard, total = 0, 0.
    for piece in sound.split(8):
        score, fired = ear(piece)
        loss = (ce(score, y) + 0.1 * (fired - 0.15) ** 2) / 3
        loss.backward()
        for lif in ear.spiking:
            lif.cut()
        heard = heard + score.detach()
        total += loss.item()
    opt.step()
    if recording % 8 == 7:
        print(f'{recording + 1:2d} loss {total:.3f} right {(heard.argmax(1) == y).float().mean():.2f}')
