from collections.abc import Iterator
from dataclasses import dataclass

import torch


@dataclass
class Contacts:
    first: torch.Tensor
    second: torch.Tensor
    stranger: torch.Tensor
    traits: torch.Tensor


def contact_stream(bees: int, traits: int, batches: int, size: int) -> Iterator[Contacts]:
    """Bees of neighbouring numbers meet more often than others."""
    draw = torch.Generator().manual_seed(5)
    for _ in range(batches):
        first = torch.randint(bees, (size,), generator=draw)
        hop = torch.randint(1, 4, (size,), generator=draw)
        stranger = torch.randint(bees, (size,), generator=draw)
        marks = torch.randn(size, traits, generator=draw)
        yield Contacts(first, (first + hop) % bees, stranger, marks)
