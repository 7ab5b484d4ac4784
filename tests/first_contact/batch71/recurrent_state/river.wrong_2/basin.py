"""The river network: static geometry, current stages, gauges."""
from dataclasses import dataclass, field

import torch


@dataclass
class Gauge:
    reach_id: int
    level: torch.Tensor = None

    def read(self, record, hour):
        self.level = record[hour, self.reach_id]


@dataclass
class Reach:
    rid: int
    upstream: list = field(default_factory=list)
    slope: float = 0.01
    level: torch.Tensor = None


class Basin:
    """Reaches come in topological order, headwaters first."""

    def __init__(self, edges, n_reaches, dim):
        self.dim = dim
        self.reaches = [Reach(i, slope=0.01 + 0.002 * i) for i in range(n_reaches)]
        for up, down in edges:
            self.reaches[down].upstream.append(self.reaches[up])
        self.gauges = [Gauge(i) for i in range(n_reaches) if i % 2 == 1]

    def dry_out(self):
        for r in self.reaches:
            r.level = torch.zeros(self.dim)
