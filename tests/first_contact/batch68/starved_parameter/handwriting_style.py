# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = gallery, style, style_encoder
"""Online handwriting: next pen offset (mixture density), conditioned on the writer's style."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

N_MIX, STYLE = 3, 6


def write(slant, size, n):
    """One line of pen offsets by a writer with this slant and letter size."""
    t = torch.arange(n) * 0.5 + 6.28 * torch.rand(1)
    dy = size * torch.cos(t)
    dx = 0.3 + slant * dy + 0.3 * size * torch.sin(2 * t)
    return torch.stack([dx, dy], dim=1) + 0.03 * torch.randn(n, 2)


class StyleEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 12, 5, padding=2)
        self.proj = nn.Linear(12, STYLE)

    def forward(self, reference):
        return self.proj(torch.relu(self.conv(reference.transpose(1, 2))).mean(dim=2))


class MixtureHead(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.linear = nn.Linear(hidden, N_MIX * 5)

    def forward(self, h):
        return self.linear(h).split([N_MIX, 2 * N_MIX, 2 * N_MIX], dim=-1)

    def nll(self, h, target):
        pi, mu, log_sigma = self(h)
        mu = mu.unflatten(-1, (N_MIX, 2))
        log_sigma = log_sigma.unflatten(-1, (N_MIX, 2)).clamp(-4, 2)
        z = (target.unsqueeze(-2) - mu) / log_sigma.exp()
        log_n = (-0.5 * z ** 2 - log_sigma - 0.5 * math.log(2 * math.pi)).sum(-1)
        return -torch.logsumexp(F.log_softmax(pi, -1) + log_n, dim=-1).mean()


class Scribe(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.style_encoder = StyleEncoder()
        self.cell = nn.LSTM(2 + STYLE, hidden, batch_first=True)
        self.head = MixtureHead(hidden)
        self.gallery = {}        # latest style of each writer, used by the demo sampler

    def style_of(self, writers, reference):
        fresh = self.style_encoder(reference)
        for w, s in zip(writers, fresh):
            self.gallery[w] = s.detach()  # expect: place
        return torch.stack([self.gallery[w] for w in writers])  # expect: place

    def loss(self, writers, reference, strokes):
        style = self.style_of(writers, reference)  # expect: place
        style = style.unsqueeze(1).expand(-1, strokes.size(1) - 1, -1)
        h, _ = self.cell(torch.cat([strokes[:, :-1], style], dim=-1))
        return self.head.nll(h, strokes[:, 1:])

    @torch.no_grad()
    def demo(self, writer, n=8):
        point, state, line = torch.zeros(1, 1, 2), None, []
        for _ in range(n):
            h, state = self.cell(torch.cat([point, self.gallery[writer].view(1, 1, -1)], -1), state)
            pi, mu, _ = self.head(h)
            point = mu.unflatten(-1, (N_MIX, 2))[0, 0, pi[0, 0].argmax()].view(1, 1, 2)
            line.append(point.flatten())
        return torch.stack(line)


def main():
    torch.manual_seed(99)
    hands = {name: (slant, size) for name, slant, size in
             [("anna", -0.4, 0.5), ("bert", 0.6, 0.9), ("clara", 0.1, 0.3), ("dora", 0.9, 0.6)]}
    writers = list(hands)
    scribe = Scribe()
    opt = torch.optim.RMSprop(scribe.parameters(), lr=2e-3)
    for step in range(30):
        reference = torch.stack([write(*hands[w], 40) for w in writers])
        strokes = torch.stack([write(*hands[w], 50) for w in writers])
        loss = scribe.loss(writers, reference, strokes)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(scribe.parameters(), 10.0)
        opt.step()
        if step % 10 == 0:
            print(f"step {step:3d}  nll {loss.item():.3f}")
    print("bert writes", scribe.demo("bert").cumsum(0)[-1].tolist())


main()
