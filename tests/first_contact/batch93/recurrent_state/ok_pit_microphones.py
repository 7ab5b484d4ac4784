"""Who plays where in an orchestra pit: one recurrent tracker, several microphones, memories kept by name."""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Memory:
    fast: torch.Tensor
    slow: torch.Tensor
    age: int = 0

    @classmethod
    def empty(cls, width):
        return cls(torch.zeros(1, width), torch.zeros(1, width))

    def cut(self):
        return dataclasses.replace(self, fast=self.fast.detach(), slow=self.slow.detach())


class TwoSpeedTracker(nn.Module):
    def __init__(self, bands, width, instruments):
        super().__init__()
        self.fast = nn.GRUCell(bands, width)
        self.rate = nn.Parameter(torch.full((width,), -1.5))
        self.lift = nn.Linear(width, width)
        self.read = nn.Linear(2 * width, instruments)

    def forward(self, frames, memory):
        logits = []
        fast, slow = memory.fast, memory.slow
        for frame in frames:
            fast = self.fast(frame, fast + 0.1 * slow)
            rate = torch.sigmoid(self.rate)
            slow = (1 - rate) * slow + rate * torch.tanh(self.lift(fast))
            logits.append(self.read(torch.cat([fast, slow], -1)))
        return torch.cat(logits), Memory(fast, slow, memory.age + len(frames))


class Microphone:
    """Endless frames; instruments come in and stay for a while."""

    def __init__(self, name, instruments, bands, spectra):
        self.name, self.spectra = name, spectra
        self.playing = torch.zeros(instruments)
        self.gain = 0.7 + 0.6 * torch.rand(bands)

    def listen(self, n):
        frames, labels = [], []
        for _ in range(n):
            flip = torch.rand(len(self.playing)) < 0.08
            self.playing = torch.where(flip, 1 - self.playing, self.playing)
            frames.append(self.gain * (self.playing @ self.spectra) + 0.3 * torch.randn(len(self.gain)))
            labels.append(self.playing)
        return torch.stack(frames).unsqueeze(1), torch.stack(labels)


def train(steps=120, window=6, accumulate=2):
    torch.manual_seed(85)
    bands, instruments, width = 12, 3, 16
    spectra = F.softplus(3 * torch.randn(instruments, bands))
    pit = {n: Microphone(n, instruments, bands, spectra) for n in ("strings", "brass", "timpani")}
    tracker = TwoSpeedTracker(bands, width, instruments)
    optimizer = torch.optim.Adam(tracker.parameters(), lr=2e-2)
    memories = {name: Memory.empty(width) for name in pit}
    names, smooth = list(pit), None

    optimizer.zero_grad()
    for step in range(1, steps + 1):
        name = names[int(torch.randint(len(names), ()))]
        frames, playing = pit[name].listen(window)
        logits, memory = tracker(frames, memories[name])
        loss = F.binary_cross_entropy_with_logits(logits, playing)
        (loss / accumulate).backward()
        memories[name] = memory.cut()
        if step % accumulate == 0:
            nn.utils.clip_grad_norm_(tracker.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        if step % 30 == 0:
            ages = {n: m.age for n, m in memories.items()}
            print(f"step {step}: bce {smooth:.3f}, frames heard {ages}")

    tracker.eval()
    with torch.no_grad():
        for name, mic in pit.items():
            frames, playing = mic.listen(40)
            logits, _ = tracker(frames, memories[name])
            print(f"{name:8s} {((logits > 0) == playing.bool()).float().mean().item():.2f}")


if __name__ == "__main__":
    train()
