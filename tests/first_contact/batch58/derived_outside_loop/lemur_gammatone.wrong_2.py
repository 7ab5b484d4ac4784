"""Which lemur is calling? A gammatone front end whose centre frequencies and bandwidths are learned."""
from contextlib import contextmanager
from dataclasses import dataclass
import math

import torch
from torch import nn

RATE = 4000.0


@dataclass
class Settings:
    channels: int = 10
    taps: int = 64
    animals: int = 3
    nights: int = 5
    clips_a_night: int = 6
    lr: float = 5e-3
    seed: int = 77


class Cochlea(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.log_f = nn.Parameter(torch.linspace(math.log(150), math.log(1600), s.channels))
        self.log_bw = nn.Parameter(torch.full((s.channels,), math.log(90.0)))
        self.register_buffer("t", torch.arange(1, s.taps + 1) / RATE)
        self.ears = None

    def impulse_responses(self):
        f, bw = self.log_f.exp()[:, None], self.log_bw.exp()[:, None]
        envelope = self.t ** 3 * torch.exp(-2 * math.pi * bw * self.t)
        bank = envelope * torch.cos(2 * math.pi * f * self.t)
        return bank / bank.norm(dim=1, keepdim=True)

    @contextmanager
    def listening(self):
        """The filters are the dear part: they are laid out here and used by everything within."""
        self.ears = self.impulse_responses().unsqueeze(1)
        try:
            yield self
        finally:
            self.ears = None

    def forward(self, wave):
        if self.ears is None:
            raise RuntimeError("use the cochlea inside `with cochlea.listening()`")
        bands = nn.functional.conv1d(wave.unsqueeze(1), self.ears, stride=8)
        return torch.log(bands.square().mean(dim=-1) + 1e-4)


class CallerId(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.cochlea = Cochlea(s)
        self.head = nn.Sequential(nn.LayerNorm(s.channels), nn.Linear(s.channels, s.animals))

    def forward(self, wave):
        return self.head(self.cochlea(wave))


def night(s):
    """Clips of one night: each animal has its own pitch and a little vibrato."""
    t = torch.arange(400) / RATE
    for _ in range(s.clips_a_night):
        who = torch.randint(s.animals, (16,))
        pitch = 260.0 + 210.0 * who + 25.0 * torch.randn(16)
        phase = 2 * math.pi * pitch[:, None] * t + 0.5 * torch.sin(2 * math.pi * 6 * t)
        yield torch.sin(phase) + 0.4 * torch.randn(16, 400), who


def train(s=Settings()):
    torch.manual_seed(s.seed)
    model = CallerId(s)
    optim = torch.optim.AdamW(model.parameters(), lr=s.lr)
    for n in range(s.nights):
        heard = right = 0
        with model.cochlea.listening():
            for wave, who in night(s):
                logits = model(wave)
                loss = nn.functional.cross_entropy(logits, who)
                optim.zero_grad()
                loss.backward(retain_graph=True)
                optim.step()
                heard += len(who)
                right += int((logits.argmax(1) == who).sum())
        pitches = model.cochlea.log_f.detach().exp()
        print(f"night {n}  loss {loss.item():.3f}  {right}/{heard}  lowest filter {pitches.min():.1f} Hz")


train()
