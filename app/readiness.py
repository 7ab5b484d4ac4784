"""Report whether the service is ready."""

from __future__ import annotations

from pydantic import BaseModel

STORE_S = 5.0  # how long the database may take to prove itself
READY_S = 60.0  # and a sandbox of its own, to be looked at


class Ready(BaseModel):
    """Whether the service can do its whole work. `walls` are those that are up; `torches`
    are further versions that a request may choose; `assistant` is the host that is asked for fixes,
    and gets the scripts, where one is configured."""

    ready: bool
    backend: str
    walls: list[str] = []
    reason: str | None = None
    environment: dict[str, str] = {}
    torches: list[str] = []
    jobs: str
    database: str
    assistant: str | None = None
