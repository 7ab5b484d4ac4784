# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fatigue
"""
Keyword spotting on an artificial cochlea.

Two layers of leaky integrate-and-fire cells with threshold adaptation feed a
non-spiking readout. Spikes are made differentiable with a triangular surrogate.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)

CHANNELS, WORDS, STEPS, BATCH = 18, 4, 25, 24


class TriangleSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, overdrive):
        ctx.save_for_backward(overdrive)
        return (overdrive > 0).to(overdrive.dtype)

    @staticmethod
    def backward(ctx, grad):
        (overdrive,) = ctx.saved_tensors
        return grad * F.relu(1.0 - overdrive.abs())


class AdaptiveLIF(nn.Module):
    def __init__(self, size, tau_v=8.0, tau_a=60.0, strength=0.25):
        super().__init__()
        self.leak = math.exp(-1.0 / tau_v)
        self.decay = math.exp(-1.0 / tau_a)
        self.strength = nn.Parameter(torch.full((size,), strength))
        self.v = None
        self.fatigue = None

    def forward(self, current):
        if self.v is None:
            self.v = torch.zeros_like(current)
        if self.fatigue is None:
            self.fatigue = torch.zeros_like(current)
        self.v = self.leak * self.v + current
        threshold = 1.0 + self.strength * self.fatigue
        spikes = TriangleSpike.apply(self.v - threshold)
        self.v = self.v - spikes.detach() * threshold.detach()
        self.fatigue = self.decay * self.fatigue + spikes.detach()  # expect: place
        return spikes


class Ear(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.w1 = nn.Linear(CHANNELS, hidden)
        self.cells1 = AdaptiveLIF(hidden)
        self.w2 = nn.Linear(hidden, hidden)
        self.cells2 = AdaptiveLIF(hidden)
        self.read = nn.Linear(hidden, WORDS)

    def forward(self, train):
        votes = 0.0
        for frame in train:
            s1 = self.cells1(self.w1(frame))
            s2 = self.cells2(self.w2(s1))
            votes = votes + self.read(s2)
        return votes / len(train)


def reset_net(net):
    """Put every neuron of the net back to rest before a new utterance."""
    for module in net.modules():
        if hasattr(module, "v"):
            module.v = None  # expect: place


def utterances(n):
    centre = torch.linspace(2, CHANNELS - 3, WORDS)
    slope = torch.tensor([0.2, -0.2, 0.1, -0.1])
    for _ in range(n):
        word = torch.randint(0, WORDS, (BATCH,))
        t = torch.arange(STEPS, dtype=torch.float32)[:, None, None]
        place = centre[word][None, :, None] + slope[word][None, :, None] * t
        rate = torch.exp(-0.3 * (torch.arange(CHANNELS)[None, None] - place) ** 2)
        yield (torch.rand(STEPS, BATCH, CHANNELS) < 0.05 + 0.8 * rate).float(), word


net = Ear()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for i, (train, word) in enumerate(utterances(30)):
    reset_net(net)
    votes = net(train)
    loss = F.cross_entropy(4.0 * votes, word)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    if i % 6 == 0:
        hit = (votes.argmax(1) == word).float().mean()
        print("utterance batch %2d  loss %.3f  hit rate %.2f" % (i, loss.item(), hit))
