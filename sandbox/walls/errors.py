"""Define the error of a wall that cannot be raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class WallError(Exception):
    """A wall could not be raised, so the run must not start."""

    def __init__(self, wall: str, reason: str) -> None:
        super().__init__(f"{wall}: {reason}")
        self.wall = wall
        self.reason = reason


@contextmanager
def raising(wall: str) -> Iterator[None]:
    """Turn an `OSError` within the block into a `WallError` that names `wall`."""
    try:
        yield
    except OSError as error:
        raise WallError(wall, str(error)) from error
