"""The world that the process is in. Invented values look for it here rather than hold it: whoever
follows what a value holds finds only what the text knows of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .world import World


class Here:
    """One world at a time."""

    world: World
