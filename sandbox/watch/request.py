"""Build the request to a warm parent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sandbox.protocol import Job
from sandbox.walls.limits import Limits


def request_for(
    job: Job, limits: Limits, allow_missing: list[str], *, probe: bool
) -> dict[str, Any]:
    """Return the request for a run of the job, or of the probe instead, in the form that crosses
    the socket.
    """
    return {
        "job": job.model_dump(),
        "limits": asdict(limits),
        "probe": probe,
        "allow_missing": allow_missing,
    }
