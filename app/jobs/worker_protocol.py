"""What the service asks of whatever works off its diagnoses."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel

from app.store import Key


class QueueFullError(Exception):
    """The service has as much waiting as it may; try again later."""


class Jobs(Protocol):
    """A way to get accepted diagnoses done."""

    async def start(self) -> None:
        """Take up what an earlier process left, and begin to work."""

    async def submit(self, request: BaseModel, key: Key | None, sender: str | None = None) -> str:
        """Store and queue a request in one go; its id.

        Raises `QueueFullError`, or `KeyTakenError` for a key that was used before.
        """

    async def cancel(self, diagnosis_id: str) -> None:
        """End the work on a deleted diagnosis soon."""

    async def waiting(self) -> int:
        """Return how many diagnoses wait."""

    async def stop(self) -> None:
        """Let running diagnoses end for a while, then hand the rest back."""
