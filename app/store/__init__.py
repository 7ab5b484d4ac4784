"""Where diagnoses live: rows, their events, and the keys of retried requests."""

from app.store.attempts import Attempts, Claim
from app.store.complaints import Complaint, Complaints
from app.store.database import Database
from app.store.diagnoses import Key, KeyTakenError, Store, StoredEvent
from app.store.workers import WorkerReports

__all__ = [
    "Attempts",
    "Claim",
    "Complaint",
    "Complaints",
    "Database",
    "Key",
    "KeyTakenError",
    "Store",
    "StoredEvent",
    "WorkerReports",
]
