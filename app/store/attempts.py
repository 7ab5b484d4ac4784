"""Attempts at a diagnosis, fenced: whatever an outdated attempt writes falls on the floor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import ColumnElement, and_, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.schemas import BaseFindings
from app.store.database import Database
from app.store.request_kinds import KINDS, Found, RequestKind
from app.store.tables import DiagnosisRow, EventRow

EventKind = Literal["status", "progress", "cause", "patch", "done"]
Reported = tuple[EventKind, BaseModel]
"""An event that an attempt reports: its kind and its data."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a diagnosis, until a newer attempt claims it; `asked` is the request
    as it is stored."""

    id: str
    attempt: int
    created_at: datetime
    kind: RequestKind[Any, Any, Any]
    request: BaseModel
    asked: str = ""


class StoredStatus(BaseModel):
    """`status`: the state that a diagnosis entered, and in which attempt."""

    status: str
    attempt: int = 0


class DoneEvent(BaseModel):
    """`done`: the last event."""

    id: str
    status: str
    verdict: str | None = None
    summary: str = ""


class Attempts:
    """Claiming, keeping, reporting on and finishing diagnoses."""

    def __init__(self, database: Database, lease_s: float) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_s)

    async def claim(self, diagnosis_id: str) -> Claim | None:
        """Start a new attempt; any earlier one is outdated from here on.

        None: finished, deleted, or in the hands of an attempt whose lease still holds.
        """
        row = DiagnosisRow
        free = or_(row.status == "queued", lapsed(self._database, self._lease))
        unfinished = [row.id == diagnosis_id, row.result.is_(None), free]
        async with self._database.changing(diagnosis_id) as connection:
            found = (
                await connection.execute(
                    update(row)
                    .where(*unfinished)
                    .values(
                        attempt=row.attempt + 1,
                        status="running",
                        lease_until=self._database.clock(self._lease),
                    )
                    .returning(row.attempt, row.created_at, row.request, row.kind)
                )
            ).one_or_none()
            if found is None:
                return None
            status = StoredStatus(status="running", attempt=found.attempt)
            await add_events(connection, diagnosis_id, found.attempt, ("status", status))
        kind = KINDS[found.kind]
        request = kind.request.model_validate_json(found.request)
        return Claim(diagnosis_id, found.attempt, found.created_at, kind, request, found.request)

    async def known(self, digest: str, kind: RequestKind[Any, Found, Any]) -> Found | None:
        """Return what was found on the same request before, if it is still kept."""
        row = DiagnosisRow
        query = select(row.result).where(
            row.digest == digest,
            row.kind == kind.name,
            row.expires_at > self._database.clock(),
        )
        async with self._database.engine.connect() as connection:
            found = await connection.scalar(query.limit(1))
        return None if found is None else kind.findings.model_validate_json(found)

    async def renew(self, claim: Claim) -> bool:
        """Say that the attempt is alive; False when it is outdated or its row is gone."""
        statement = update(DiagnosisRow).where(held(claim))
        async with self._database.engine.begin() as connection:
            done = await connection.execute(
                statement.values(lease_until=self._database.clock(self._lease))
            )
        return done.rowcount == 1

    async def record(self, claim: Claim, *events: Reported) -> bool:
        """Add events of this attempt, together; False when the attempt is outdated."""
        columns = [EventRow.diagnosis_id, EventRow.attempt, EventRow.kind, EventRow.data]
        current = select(DiagnosisRow.id).where(held(claim)).exists()
        added = None
        async with self._database.changing(claim.id) as connection:
            for kind, data in events:
                event = (claim.id, claim.attempt, kind, data.model_dump_json())
                values = select(*map(literal, event)).where(current)
                added = await connection.scalar(
                    insert(EventRow).from_select(columns, values).returning(EventRow.seq)
                )
        return added is not None

    async def finish(
        self,
        claim: Claim,
        status: Literal["done", "failed"],
        findings: BaseFindings,
        digest: str | None = None,
        events: Iterable[Reported] = (),
    ) -> bool:
        """Store the result, once, and the `events` before it.

        Return False if the attempt is outdated. With a `digest` of its request it answers that
        again.
        """
        async with self._database.changing(claim.id) as connection:
            done = await connection.execute(
                update(DiagnosisRow)
                .where(held(claim))
                .values(
                    status=status,
                    result=findings.model_dump_json(),
                    lease_until=None,
                    finished_at=datetime.now(UTC),
                    digest=digest,
                )
            )
            if done.rowcount != 1:
                return False
            last = DoneEvent(
                id=claim.id, status=status, verdict=findings.verdict, summary=findings.summary
            )
            await add_events(connection, claim.id, claim.attempt, *events, ("done", last))
        return True

    async def hand_back(self, claim: Claim) -> bool:
        """Put a diagnosis that cannot be ended here back into the queue."""
        async with self._database.changing(claim.id) as connection:
            done = await connection.execute(
                update(DiagnosisRow).where(held(claim)).values(status="queued", lease_until=None)
            )
            if done.rowcount == 1:
                status = StoredStatus(status="queued", attempt=claim.attempt)
                await add_events(connection, claim.id, claim.attempt, ("status", status))
        return done.rowcount == 1


def lapsed(database: Database, lease: timedelta) -> ColumnElement[bool]:
    """Return the condition that a lease has ended.

    A lease that ends much later than one given now has, too: the clock was set back since.
    """
    until = DiagnosisRow.lease_until
    return or_(until < database.clock(), until > database.clock(2 * lease))


def held(claim: Claim) -> ColumnElement[bool]:
    """Return the condition that a claim is still the newest, and the diagnosis not ended."""
    return and_(
        DiagnosisRow.id == claim.id,
        DiagnosisRow.attempt == claim.attempt,
        DiagnosisRow.result.is_(None),
    )


async def add_events(
    connection: AsyncConnection, diagnosis_id: str, attempt: int, *events: Reported
) -> None:
    """Write events within a transaction that has proved its right to."""
    rows = [
        {
            "diagnosis_id": diagnosis_id,
            "attempt": attempt,
            "kind": kind,
            "data": data.model_dump_json(),
        }
        for kind, data in events
    ]
    await connection.execute(insert(EventRow), rows)
