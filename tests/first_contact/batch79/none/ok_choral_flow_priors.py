# expect: pattern = none
# expect: raises = nothing
"""A coupling flow over chord spectra with a learnt prior per voice.

Both terms share the codes of one forward, and each is walked by itself into the same gradients
so that their sizes can be told apart; the second walk lets the graph go.
"""
import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, size, flip):
        super().__init__()
        self.half, self.flip = size // 2, flip
        self.net = nn.Sequential(nn.Linear(self.half, 24), nn.Tanh(), nn.Linear(24, size))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        scale, shift = self.net(a).chunk(2, 1)
        scale = torch.tanh(scale)
        b = b * scale.exp() + shift
        return torch.cat((b, a) if self.flip else (a, b), 1), scale.sum(1)


class VoicedFlow(nn.Module):
    def __init__(self, size, voices):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(size, n % 2 == 1) for n in range(4))
        self.means = nn.Parameter(torch.randn(voices, size))
        self.log_scales = nn.Parameter(torch.zeros(voices, size))

    def forward(self, x):
        volume = torch.zeros(len(x))
        for layer in self.layers:
            x, change = layer(x)
            volume = volume + change
        return x, volume

    def log_prior(self, z):
        prior = torch.distributions.Normal(self.means, self.log_scales.exp())
        return prior.log_prob(z.unsqueeze(1)).sum(2)


def gradient_size(params):
    return sum(p.grad.pow(2).sum() for p in params if p.grad is not None).sqrt().item()


def chords(n, size, voices):
    voice = torch.randint(voices, (n,))
    bins = torch.arange(size)
    spectrum = torch.cos(bins * (1 + voice[:, None]) / 2) + 0.3 * torch.randn(n, size)
    return spectrum + 0.2 * spectrum.pow(2), voice


def main(size=8, voices=3, steps=80):
    torch.manual_seed(33)
    flow = VoicedFlow(size, voices)
    optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)
    ratio = 0.0
    for step in range(steps):
        x, voice = chords(48, size, voices)
        z, volume = flow(x)
        logp = flow.log_prior(z)
        likelihood = -(logp.gather(1, voice[:, None]).squeeze(1) + volume).mean()
        naming = nn.functional.cross_entropy(logp, voice)

        optimizer.zero_grad()
        naming.backward(retain_graph=True)
        alone = gradient_size(flow.layers.parameters())
        likelihood.backward()
        ratio = 0.9 * ratio + 0.1 * alone / (gradient_size(flow.layers.parameters()) + 1e-8)
        optimizer.step()
        if step % 20 == 19:
            print(f"{step + 1}: nll {likelihood.item():.3f}  naming {naming.item():.3f}  "
                  f"share {ratio:.2f}")


if __name__ == "__main__":
    main()
