"""Self-calibration of a microphone array that listens to bats at a bridge.

The microphones were glued on by hand, so their positions are known to some 5 mm and their
gains hardly at all. Known ultrasonic sources on a rail tell where the bearing should be.
"""
from dataclasses import dataclass, field

import numpy as np
import torch

SOUND = 343.0
TONES = torch.tensor([18e3, 22e3, 27e3, 31e3])


@dataclass
class BridgeArray:
    nominal: torch.Tensor
    shift: torch.Tensor = field(init=False)
    log_gain: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.shift = torch.zeros_like(self.nominal, requires_grad=True)  # millimetres
        self.log_gain = torch.zeros(len(self.nominal), dtype=torch.cfloat, requires_grad=True)

    def positions(self):
        return self.nominal + 1e-3 * self.shift

    def steering(self, bearings):
        """Plane-wave replicas: tones x bearings x microphones."""
        look = torch.stack([torch.sin(bearings), torch.cos(bearings)], 1)
        delays = look @ self.positions().T / SOUND
        replicas = torch.exp(-2j * torch.pi * TONES[:, None, None] * delays)
        return replicas / len(self.nominal) ** 0.5

    def equalise(self, spectra):
        return spectra * torch.exp(-self.log_gain)


def bridge(count=8):
    """A slightly bent line along the railing, spacing about a third of a wavelength."""
    along = (np.arange(count) - (count - 1) / 2) * 4.5e-3
    return torch.tensor(np.stack([along, 0.2 * along**2], 1), dtype=torch.float32)


def rail_recordings(nominal, bearings, snapshots, rng):
    """What the real array hears: its own shifts and gains, which nobody knows."""
    true = BridgeArray(nominal)
    with torch.no_grad():
        true.shift += torch.tensor(rng.normal(0, 1.2, nominal.shape), dtype=torch.float32)
        gain = torch.tensor(rng.normal(0, 0.4, len(nominal)) + 1j * rng.normal(0, 0.5, len(nominal)))
        replicas = true.steering(bearings) * torch.exp(gain).to(torch.cfloat)
    source = torch.tensor(rng.integers(0, len(bearings), snapshots))
    noise = rng.normal(0, 0.1, (snapshots, 4, len(nominal), 2))
    noise = torch.view_as_complex(torch.tensor(noise, dtype=torch.float32))
    phase = torch.tensor(rng.uniform(0, 2 * np.pi, (snapshots, 4, 1)), dtype=torch.float32)
    heard = replicas[:, source].transpose(0, 1) * torch.exp(1j * phase)
    return heard + noise, source


def bearing_scores(array, A, spectra, sharp=4.0):
    beams = torch.einsum("fbm,sfm->sfb", A.conj(), array.equalise(spectra))
    return sharp * beams.abs().square().sum(1)


def calibrate(array, bearings, spectra, source, epochs=6, batch=32):
    optimizer = torch.optim.Adam([
        {"params": [array.shift], "lr": 0.05},
        {"params": [array.log_gain], "lr": 0.02},
    ])
    history = []
    for epoch in range(epochs):
        steer = array.steering(bearings)
        total = 0.0
        for part in torch.randperm(len(source)).split(batch):
            scores = bearing_scores(array, steer, spectra[part])
            nll = torch.nn.functional.cross_entropy(scores, source[part])
            prior = 1e-3 * array.shift.square().sum()
            optimizer.zero_grad()
            (nll + prior).backward()
            optimizer.step()
            total += nll.item() * len(part)
        history.append(total / len(source))
        spread = array.shift.detach().norm(dim=1).mean()
        print(f"epoch {epoch} nll {history[-1]:.4f} mean shift {spread:.3f} mm")
    return history


@torch.no_grad()
def hit_rate(array, bearings, spectra, source):
    scores = bearing_scores(array, array.steering(bearings), spectra)
    return ((scores.argmax(1) - source).abs() <= 1).float().mean().item()


torch.manual_seed(44)
rng = np.random.default_rng(44)
nominal = bridge()
bearings = torch.linspace(-1.0, 1.0, 21)
spectra, source = rail_recordings(nominal, bearings, 256, rng)
array = BridgeArray(nominal)
print(f"before: {hit_rate(array, bearings, spectra, source):.2f} of the bearings within one step")
calibrate(array, bearings, spectra, source)
print(f"after:  {hit_rate(array, bearings, spectra, source):.2f}")
