from typing import Dict

import torch


class NodeMemory:
    """One vector an account, and when it was last written."""

    def __init__(self, dim: int):
        self.dim = dim
        self.reset()

    def reset(self):
        self.store: Dict[int, torch.Tensor] = {}
        self.last_update: Dict[int, float] = {}
        self.pending = None

    def get(self, nodes: torch.Tensor) -> torch.Tensor:
        blank = torch.zeros(self.dim)
        return torch.stack([self.store.get(int(n), blank) for n in nodes])  # expect: place

    def elapsed(self, nodes: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        seen = torch.tensor([self.last_update.get(int(n), 0.0) for n in nodes])
        return t - seen

    def put(self, nodes: torch.Tensor, values: torch.Tensor, t: torch.Tensor) -> None:
        for n, v, when in zip(nodes.tolist(), values, t.tolist()):
            self.store[n] = v  # expect: place
            self.last_update[n] = when
