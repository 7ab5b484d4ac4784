# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = middle, width
"""Design of a cheap spectrometer: where should its colour bands lie to tell minerals apart?

Learns the bands (middle and width of each) together with the classifier that reads them.
"""

import math
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=UserWarning)

NANOMETRES = torch.linspace(400.0, 900.0, 64)
MINERALS = 4


class Band(nn.Module):
    """A Gaussian transmission curve on the scale of 0 (violet) to 1 (infrared)."""

    def __init__(self, middle, width):
        super().__init__()
        self.middle = nn.Parameter(torch.tensor(float(middle)))
        self.log_width = nn.Parameter(torch.tensor(math.log(width)))

    def width(self):
        return self.log_width.exp()


class FilterWheel(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.bands = nn.ModuleList(
            Band((number + 0.5) / count, 0.5 / count) for number in range(count)
        )
        self.register_buffer("scale", (NANOMETRES - 400.0) / 500.0)

    def curves(self):
        middle = torch.tensor([band.middle for band in self.bands])  # expect: place
        width = torch.tensor([band.width() for band in self.bands])  # expect: place
        away = (self.scale[None] - middle[:, None]) / width[:, None]
        return torch.exp(-0.5 * away.pow(2))

    def forward(self, spectra):
        curves = self.curves()  # expect: place
        return spectra @ curves.T / curves.sum(dim=1)


class Spectrometer(nn.Module):
    def __init__(self, bands=5):
        super().__init__()
        self.wheel = FilterWheel(bands)
        self.reader = nn.Sequential(nn.Linear(bands, 16), nn.ReLU(), nn.Linear(16, MINERALS))

    def forward(self, spectra):
        return self.reader(self.wheel(spectra))


def outcrop(count):
    kind = torch.randint(MINERALS, (count,))
    dips = torch.tensor([480.0, 560.0, 590.0, 780.0])[kind][:, None]
    depth = 0.3 + 0.5 * torch.rand(count, 1)
    spectra = 1.0 - depth * torch.exp(-0.5 * ((NANOMETRES - dips) / 25.0).pow(2))
    return TensorDataset(spectra + 0.02 * torch.randn(count, 64), kind)


def run_epoch(model, loader, optimizer):
    total, right = 0.0, 0
    for spectra, kind in loader:
        scores = model(spectra)
        loss = nn.functional.cross_entropy(scores, kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(kind)
        right += (scores.argmax(dim=1) == kind).sum().item()
    size = len(loader.dataset)
    return total / size, right / size


def main():
    torch.manual_seed(37)
    loader = DataLoader(outcrop(96), batch_size=24, shuffle=True)
    model = Spectrometer()
    optimizer = torch.optim.Adam(
        [
            {"params": model.wheel.parameters(), "lr": 0.02},
            {"params": model.reader.parameters(), "lr": 0.01},
        ]
    )
    for epoch in range(6):
        loss, right = run_epoch(model, loader, optimizer)
        places = ", ".join(f"{400 + 500 * band.middle.item():.0f}" for band in model.wheel.bands)
        print(f"epoch {epoch}: {loss:.3f}, {right:.0%} right, bands at {places} nm")


if __name__ == "__main__":
    main()
