"""A toy reanalysis: three fields on a 6 x 12 lat-lon grid, drifting eastwards; the record is cyclic."""
import math

import torch

VARIABLES = ("t850", "z500", "u10")
N_LAT, N_LON = 6, 12


class Archive:
    def __init__(self, hours: int = 80):
        lat = torch.linspace(-75.0, 75.0, N_LAT)
        self.area = torch.cos(torch.deg2rad(lat)).view(1, 1, N_LAT, 1)
        self.area = self.area / self.area.mean()
        lon = torch.arange(N_LON) * (2 * math.pi / N_LON)
        frames = []
        for hour in range(hours):
            wave = torch.stack(
                [torch.sin((k + 1) * lon - 8 * math.pi / hours * (k + 1) * hour) for k in range(len(VARIABLES))]
            )
            frames.append(wave[:, None, :] * torch.cos(torch.deg2rad(lat))[None, :, None])
        self.fields = torch.stack(frames) + 0.02 * torch.randn(hours, len(VARIABLES), N_LAT, N_LON)

    def __len__(self):
        return len(self.fields)

    def at(self, hours: torch.Tensor) -> torch.Tensor:
        return self.fields[hours % len(self)]
