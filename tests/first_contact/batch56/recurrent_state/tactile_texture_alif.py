# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = v, a
"""Spiking texture recognition from a fingertip taxel array.

The finger strokes a plate for a long time; the recording is streamed in chunks and the
neurons keep their membrane and their threshold adaptation from one chunk to the next.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Cfg:
    taxels: int = 12
    hidden: int = 24
    classes: int = 3
    chunk: int = 15
    chunks: int = 10
    batch: int = 16
    lr: float = 4e-3
    epochs: int = 6


class FastSigmoidSpike(torch.autograd.Function):
    slope = 10.0

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1.0 + FastSigmoidSpike.slope * v.abs()) ** 2


class ALIF(nn.Module):
    """Adaptive leaky integrate-and-fire layer; v is the membrane, a the adaptation."""

    def __init__(self, n, tau_v=0.85, tau_a=0.95, beta=0.2):
        super().__init__()
        self.tau_v, self.tau_a = tau_v, tau_a
        self.beta = nn.Parameter(torch.full((n,), beta))
        self.v = self.a = None

    def reset(self):
        self.v = self.a = None

    def cut(self):
        if self.v is not None:
            self.v, self.a = self.v.detach(), self.a.detach()

    def forward(self, current):
        if self.v is None:
            self.v = torch.zeros_like(current)
            self.a = torch.zeros_like(current)
        self.v = self.tau_v * self.v + current  # expect: place
        spike = FastSigmoidSpike.apply(self.v - 0.5 - self.beta * self.a)
        self.v = self.v - 0.5 * spike  # expect: place
        self.a = self.tau_a * self.a + spike  # expect: place
        return spike


class TextureNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(cfg.taxels, cfg.hidden), ALIF(cfg.hidden))
        self.mixer = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), ALIF(cfg.hidden))
        self.readout = nn.Linear(cfg.hidden, cfg.classes)

    def neurons(self):
        return [m for m in self.children() if isinstance(m, ALIF)]  # expect: place

    def reset(self):
        for m in self.modules():
            if isinstance(m, ALIF):
                m.reset()

    def cut_history(self):
        for m in self.neurons():  # expect: place
            m.cut()

    def forward(self, chunk):
        rate = 0.0
        for frame in chunk:
            rate = rate + self.mixer(self.encoder(frame))
        return self.readout(rate / len(chunk))


def strokes(cfg, gen):
    label = torch.randint(cfg.classes, (cfg.batch,), generator=gen)
    t = torch.arange(cfg.chunk * cfg.chunks).float()
    pitch = 0.25 + 0.35 * label.float()
    phase = torch.linspace(0, 3, cfg.taxels)
    wave = torch.sin(t[:, None, None] * pitch[None, :, None] + phase)
    wave = wave + 0.3 * torch.randn(wave.shape, generator=gen)
    return wave.split(cfg.chunk), label


def main(cfg=Cfg()):
    torch.manual_seed(7)
    gen = torch.Generator().manual_seed(1)
    net = TextureNet(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        chunks, label = strokes(cfg, gen)
        net.reset()
        seen = 0.0
        for chunk in chunks:
            net.cut_history()
            loss = F.cross_entropy(net(chunk), label)
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
            seen += loss.item()
        print(f"epoch {epoch}: cross-entropy {seen / len(chunks):.3f}")


if __name__ == "__main__":
    main()
