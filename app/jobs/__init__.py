"""Working off accepted diagnoses: in this process, or in workers on a PostgreSQL queue."""

from app.jobs.runner import Diagnose, Runner
from app.jobs.worker_protocol import Jobs, QueueFullError

__all__ = ["Diagnose", "Jobs", "QueueFullError", "Runner"]
