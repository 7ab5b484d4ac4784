"""Working off accepted diagnoses: in this process, or in workers on a PostgreSQL queue."""

from app.jobs.protocol import Jobs, QueueFullError
from app.jobs.runner import Diagnose, Runner

__all__ = ["Diagnose", "Jobs", "QueueFullError", "Runner"]
