from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def held_still(module: nn.Module) -> Iterator[nn.Module]:
    """Inside, no parameter of `module` wants a gradient; afterwards, those that did do again.

    Parameters that have been frozen for good (a pretrained stem, say) stay so.
    """
    before = ((p, p.requires_grad) for p in module.parameters())
    module.requires_grad_(False)
    try:
        yield module
    finally:
        for p, wanted in before:
            p.requires_grad_(wanted)
