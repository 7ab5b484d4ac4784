# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = low, width
"""Tell bat species apart by their calls, with band-pass filters whose edges are learned."""

import math

import torch
from torch import nn

RATE = 200.0  # kHz
SAMPLES = 256
SPECIES = ("pipistrelle", "noctule", "horseshoe")


class BandFilters(nn.Module):
    """Convolution with windowed sinc band-passes, each given by its lower edge and width.

    Two numbers a filter in place of `taps` of them. Edges are in fractions of the rate.
    """

    def __init__(self, count: int, taps: int = 41) -> None:
        super().__init__()
        edges = torch.linspace(0.04, 0.38, count + 1)
        self.low = nn.Parameter(edges[:-1].clone())
        self.width = nn.Parameter(edges.diff())
        self.register_buffer("t", torch.arange(taps) - (taps - 1) / 2)
        self.register_buffer("window", torch.hamming_window(taps, periodic=False))

    def low_pass(self, cut):
        return 2 * cut * torch.sinc(2 * cut * self.t)

    def kernels(self) -> torch.Tensor:
        made = []
        for low, width in zip(self.low.tolist(), self.width.tolist(), strict=True):  # expect: place
            low, width = abs(low), abs(width)
            band = self.low_pass(low + width) - self.low_pass(low)  # expect: place
            made.append(band * self.window)
        return torch.stack(made)[:, None, :]  # expect: place

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        return nn.functional.conv1d(sound[:, None, :], self.kernels())  # expect: place


class CallSorter(nn.Module):
    def __init__(self, filters: int = 8) -> None:
        super().__init__()
        self.filters = BandFilters(filters)
        self.norm = nn.LayerNorm(filters)
        self.head = nn.Sequential(nn.Linear(filters, 16), nn.ReLU(), nn.Linear(16, len(SPECIES)))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        loudness = self.filters(sound).square().mean(dim=2)
        return self.head(self.norm(torch.log(loudness + 1e-4)))


def calls(n: int, gen: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Sweeps: each species starts somewhere else and falls at another pace."""
    start = torch.tensor([55.0, 28.0, 81.0])
    fall = torch.tensor([0.06, 0.02, 0.01])
    species = torch.randint(len(SPECIES), (n,), generator=gen)
    t = torch.arange(SAMPLES) / RATE
    pitch = start[species] + 4 * torch.randn(n, generator=gen)
    sweep = pitch[:, None] * t * (1 - fall[species][:, None] * t)
    noise = torch.randn(n, SAMPLES, generator=gen)
    return torch.sin(2 * math.pi * sweep) + 1.5 * noise, species


def edges_in_khz(model: CallSorter) -> str:
    bank = model.filters
    pairs = zip(bank.low.tolist(), bank.width.tolist(), strict=True)
    return "  ".join(f"{RATE * low:.1f}-{RATE * (low + width):.1f}" for low, width in pairs)


def main() -> None:
    torch.manual_seed(8)
    gen = torch.Generator().manual_seed(19)
    model = CallSorter()
    optimizer = torch.optim.Adam(
        [
            {"params": model.filters.parameters(), "lr": 2e-3},
            {"params": model.norm.parameters()},
            {"params": model.head.parameters()},
        ],
        lr=0.01,
    )
    criterion = nn.CrossEntropyLoss()
    print("bands before:", edges_in_khz(model))
    for step in range(30):
        sound, species = calls(32, gen)
        loss = criterion(model(sound), species)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}  loss {loss.item():.3f}")
    print("bands after: ", edges_in_khz(model))


if __name__ == "__main__":
    main()
