"""Replay of the model's own forecasts, so that long lead times are seen in training."""
from collections import deque
from dataclasses import dataclass

import torch


@dataclass
class Snapshot:
    fields: torch.Tensor
    hour: int


class ForecastReplay:
    def __init__(self, capacity: int = 24, seed: int = 0):
        self._shelf = deque(maxlen=capacity)
        self._rng = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self._shelf)

    def extend(self, fields: torch.Tensor, hours: torch.Tensor) -> None:
        for sample, hour in zip(fields, hours.tolist()):
            self._shelf.append(Snapshot(sample.detach(), hour))

    def draw(self, n: int):
        picks = torch.randint(len(self._shelf), (n,), generator=self._rng).tolist()
        chosen = [self._shelf[i] for i in picks]
        fields = torch.stack([snap.fields for snap in chosen])
        return fields, torch.tensor([snap.hour for snap in chosen])
