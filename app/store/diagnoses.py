"""Accepting, reading and deleting diagnoses."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.schemas import BaseFindings, Cause, Diagnosis, DiagnosisRequest, Findings, Patch
from app.store.attempts import StoredStatus, add_events, lapsed
from app.store.database import Database
from app.store.request_kinds import DIAGNOSIS, Answer, Asked, RequestKind, kind_of
from app.store.tables import DiagnosisRow, EventRow, KeyRow

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When a diagnosis expires that is kept for good."""

Enqueue = Callable[[AsyncConnection, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it goes to clients; `data` is JSON."""

    seq: int
    kind: str
    data: str


@dataclass(frozen=True, slots=True)
class Key:
    """A client's idempotency key, and a digest of what it sent."""

    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Owner:
    """A digest of who sent a diagnosis (None: nobody knows), and its token."""

    sender: str | None
    token: str | None


class KeyTakenError(Exception):
    """The idempotency key has been used before, with this digest and for this diagnosis."""

    def __init__(self, diagnosis_id: str, digest: str) -> None:
        super().__init__("idempotency key used before")
        self.diagnosis_id = diagnosis_id
        self.digest = digest


class Store:
    """The diagnoses in a database, and how long attempts at them hold without a sign of life."""

    def __init__(self, database: Database, retention_days: float, lease_s: float = 30.0) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_s)
        self._retention = timedelta(days=retention_days)

    async def create(
        self,
        request: BaseModel,
        key: Key | None = None,
        enqueue: Enqueue | None = None,
        sender: str | None = None,
    ) -> str:
        """Accept a request and return its id; `enqueue` runs in the same transaction.

        Raises `KeyTakenError` when the idempotency key belongs to an earlier request.
        """
        if key is not None:
            await self._check_unused(key)
        diagnosis_id = secrets.token_urlsafe(16)  # 128 random bits
        try:
            await self._insert(diagnosis_id, request, key, enqueue, sender)
        except IntegrityError:  # a request with the same key was quicker
            if key is not None:
                await self._check_unused(key)
            raise
        return diagnosis_id

    async def _check_unused(self, key: Key) -> None:
        async with self._database.engine.connect() as connection:
            found = (
                await connection.execute(
                    select(KeyRow.diagnosis_id, KeyRow.digest).where(KeyRow.key == key.key)
                )
            ).one_or_none()
        if found is not None:
            raise KeyTakenError(found.diagnosis_id, found.digest)

    async def _insert(
        self,
        diagnosis_id: str,
        request: BaseModel,
        key: Key | None,
        enqueue: Enqueue | None,
        sender: str | None,
    ) -> None:
        now = datetime.now(UTC)
        async with self._database.changing(diagnosis_id) as connection:
            await connection.execute(
                insert(DiagnosisRow).values(
                    id=diagnosis_id,
                    created_at=now,
                    expires_at=now + self._retention,
                    status="queued",
                    request=request.model_dump_json(),
                    attempt=0,
                    sender=sender,
                    token=secrets.token_urlsafe(16),
                    kind=kind_of(request).name,
                )
            )
            if key is not None:
                await connection.execute(
                    insert(KeyRow).values(key=key.key, digest=key.digest, diagnosis_id=diagnosis_id)
                )
            queued = StoredStatus(status="queued")
            await add_events(connection, diagnosis_id, 0, ("status", queued))
            if enqueue is not None:
                await enqueue(connection, diagnosis_id)

    async def get(self, diagnosis_id: str) -> Diagnosis | None:
        """Return the diagnosis, with what is known so far while it runs; None for an unknown id."""
        return await self.answer(diagnosis_id, DIAGNOSIS)

    async def answer(self, diagnosis_id: str, kind: RequestKind[Any, Any, Answer]) -> Answer | None:
        """Return the answer to a request of this kind, so far or finished; None for an unknown
        id."""
        row = DiagnosisRow
        columns = (row.created_at, row.expires_at, row.status, row.result, row.attempt)
        async with self._database.engine.connect() as connection:
            found = (
                await connection.execute(
                    select(*columns).where(
                        row.id == diagnosis_id,
                        row.kind == kind.name,
                        row.expires_at > self._database.clock(),
                    )
                )
            ).one_or_none()
            if found is None:
                return None
            findings: BaseFindings = kind.findings()
            if found.result is not None:
                findings = kind.findings.model_validate_json(found.result)
            elif kind is DIAGNOSIS:
                findings = await _so_far(connection, diagnosis_id, found.attempt)
        return kind.answer(
            id=diagnosis_id,
            url=f"{kind.page}{diagnosis_id}",
            created_at=found.created_at,
            expires_at=found.expires_at,
            status=found.status,
            **dict(findings),
        )

    async def finished(self, diagnosis_id: str) -> bool | None:
        """Return whether the diagnosis has its result; None for an unknown id."""
        async with self._database.engine.connect() as connection:
            found = (
                await connection.execute(
                    select(DiagnosisRow.result.is_not(None)).where(DiagnosisRow.id == diagnosis_id)
                )
            ).scalar_one_or_none()
        return None if found is None else bool(found)

    async def request(self, diagnosis_id: str) -> DiagnosisRequest | None:
        """Return what the client sent for a diagnosis; None for an unknown id."""
        return await self.asked(diagnosis_id, DIAGNOSIS)

    async def asked(self, diagnosis_id: str, kind: RequestKind[Asked, Any, Any]) -> Asked | None:
        """Return what was sent for a request of this kind; None for an unknown id."""
        row = DiagnosisRow
        async with self._database.engine.connect() as connection:
            found = (
                await connection.execute(
                    select(row.request).where(row.id == diagnosis_id, row.kind == kind.name)
                )
            ).scalar_one_or_none()
        return None if found is None else kind.request.model_validate_json(found)

    async def owner(self, diagnosis_id: str) -> Owner:
        """Return who may delete the diagnosis."""
        columns = (DiagnosisRow.sender, DiagnosisRow.token)
        async with self._database.engine.connect() as connection:
            row = await connection.execute(select(*columns).where(DiagnosisRow.id == diagnosis_id))
            found = row.one_or_none()
        return Owner(*found) if found else Owner(None, None)

    async def events(self, diagnosis_id: str, after: int = 0) -> list[StoredEvent]:
        """Return the events after `after`, in order."""
        async with self._database.engine.connect() as connection:
            rows = await connection.execute(
                select(EventRow.seq, EventRow.kind, EventRow.data)
                .where(EventRow.diagnosis_id == diagnosis_id, EventRow.seq > after)
                .order_by(EventRow.seq)
            )
            return [StoredEvent(*row) for row in rows]

    async def delete(self, diagnosis_id: str) -> bool:
        """Forget a diagnosis, its script and its events; False when there was none."""
        async with self._database.changing(diagnosis_id) as connection:
            done = await connection.execute(
                delete(DiagnosisRow).where(DiagnosisRow.id == diagnosis_id)
            )
        await self._database.forget()
        return done.rowcount == 1

    async def keep(self, diagnosis_id: str) -> None:
        """Exempt a diagnosis from expiry."""
        async with self._database.changing(diagnosis_id) as connection:
            await connection.execute(
                update(DiagnosisRow).where(DiagnosisRow.id == diagnosis_id).values(expires_at=NEVER)
            )

    async def purge(self) -> int:
        """Forget what has expired; how many that were."""
        async with self._database.engine.begin() as connection:
            done = await connection.execute(
                delete(DiagnosisRow).where(DiagnosisRow.expires_at <= self._database.clock())
            )
        return done.rowcount

    async def waiting(self) -> int:
        """Return how many diagnoses wait for a worker."""
        async with self._database.engine.connect() as connection:
            return (
                await connection.scalar(select(func.count()).where(DiagnosisRow.status == "queued"))
                or 0
            )

    async def unattended(self) -> list[str]:
        """Return accepted diagnoses that nobody works on: queued ones, and those with a lapsed
        lease."""
        row = DiagnosisRow
        abandoned = and_(row.status == "running", lapsed(self._database, self._lease))
        async with self._database.engine.connect() as connection:
            found = await connection.scalars(
                select(row.id)
                .where(row.result.is_(None), or_(abandoned, row.status == "queued"))
                .order_by(row.created_at)
            )
            return list(found)


async def _so_far(connection: AsyncConnection, diagnosis_id: str, attempt: int) -> Findings:
    """Return what the running attempt has reported; of a patch reported twice, the last report."""
    rows = await connection.execute(
        select(EventRow.kind, EventRow.data)
        .where(
            EventRow.diagnosis_id == diagnosis_id,
            EventRow.attempt == attempt,
            EventRow.kind.in_(["cause", "patch"]),
        )
        .order_by(EventRow.seq)
    )
    findings = Findings()
    patches: dict[str, Patch] = {}
    for kind, data in rows:
        if kind == "cause":
            findings.causes.append(Cause.model_validate_json(data))
        else:
            patch = Patch.model_validate_json(data)
            patches[patch.diff] = patch
    findings.patches = [
        patch.model_copy(update={"n": n}) for n, patch in enumerate(patches.values(), start=1)
    ]
    return findings
