"""Made-up hum: three accelerometers, a tone that drifts with wear, noise."""
from dataclasses import dataclass

import torch


@dataclass
class Recording:
    hum: torch.Tensor  # turbine, time, channel
    wear: torch.Tensor  # turbine, time

    def chunks(self, size):
        for start in range(0, self.hum.shape[1] - size + 1, size):
            stop = start + size
            yield self.hum[:, start:stop], self.wear[:, start:stop]


def make_recordings(count, channels, turbines=4, length=64):
    out = []
    for _ in range(count):
        wear = torch.rand(turbines, 1) * 0.5 + 0.01 * torch.rand(turbines, length).cumsum(1)
        phase = (0.4 + wear).cumsum(1)
        tones = torch.stack([torch.sin(phase * (k + 1)) for k in range(channels)], -1)
        out.append(Recording(tones + 0.1 * torch.randn_like(tones), wear))
    return out
