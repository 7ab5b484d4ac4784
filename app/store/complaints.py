"""What people say is wrong with results: kept with each, deleted with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, insert, select

from app.store.database import Database
from app.store.tables import ComplaintRow, DiagnosisRow

LONGEST = 2000  # characters
MOST = 20  # of one result


@dataclass(frozen=True, slots=True)
class Complaint:
    """`diagnosis_id` leads to the answer and to what was sent."""

    diagnosis_id: str
    at: datetime
    text: str


class Complaints:
    """The reports of wrong answers in a database."""

    def __init__(self, database: Database) -> None:
        self._engine = database.engine

    async def add(self, diagnosis_id: str, text: str) -> bool:
        """Keep a report; false where the result has as many as are kept."""
        row = ComplaintRow
        count = select(func.count()).where(row.diagnosis_id == diagnosis_id)
        async with self._engine.begin() as connection:
            if (await connection.scalar(count) or 0) >= MOST:
                return False
            fields = {"diagnosis_id": diagnosis_id, "at": datetime.now(UTC), "text": text[:LONGEST]}
            await connection.execute(insert(row).values(fields))
        return True

    async def every(self) -> list[Complaint]:
        """Return every report of a result that still exists, newest first."""
        row = ComplaintRow
        asked = (
            select(row.diagnosis_id, row.at, row.text)
            .join(DiagnosisRow, DiagnosisRow.id == row.diagnosis_id)
            .order_by(row.at.desc())
        )
        async with self._engine.connect() as connection:
            return [Complaint(*found) for found in await connection.execute(asked)]
