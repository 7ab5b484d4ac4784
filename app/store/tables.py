"""The tables. `attempt` is the fence: only the newest attempt may write events or the result."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, ForeignKey, Index, Integer, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime in UTC, also on SQLite, which forgets the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


class DeclarativeTable(DeclarativeBase):
    """The declarative base; its metadata is what the migrations build."""


class DiagnosisRow(DeclarativeTable):
    """A request of a `kind` (see `app.store.request_kinds`), by default a diagnosis.

    `result` is the JSON of its findings, written once, with `done` or `failed`. `sender` is a
    digest that identifies its sender; `token` is what the sender deletes it with; `digest`
    identifies the request if the result answers that request again.
    """

    __tablename__ = "diagnoses"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime] = mapped_column(UtcTime, index=True)
    status: Mapped[str] = mapped_column(Text)
    request: Mapped[str] = mapped_column(Text)
    result: Mapped[str | None] = mapped_column(Text)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    lease_until: Mapped[datetime | None] = mapped_column(UtcTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcTime)
    sender: Mapped[str | None] = mapped_column(Text)
    token: Mapped[str | None] = mapped_column(Text)
    digest: Mapped[str | None] = mapped_column(Text, index=True)
    kind: Mapped[str] = mapped_column(Text, server_default="diagnosis")

    __table_args__ = (Index("ix_diagnoses_status", "status", "created_at"),)


class EventRow(DeclarativeTable):
    """Something that happened to a diagnosis; `seq` is what `Last-Event-ID` counts."""

    __tablename__ = "events"

    seq: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    diagnosis_id: Mapped[str] = mapped_column(ForeignKey("diagnoses.id", ondelete="CASCADE"))
    attempt: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(Text)
    data: Mapped[str] = mapped_column(Text)

    __table_args__ = (Index("ix_events_diagnosis", "diagnosis_id", "seq"),)


class KeyRow(DeclarativeTable):
    """An idempotency key, and a digest of the request it came with."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    diagnosis_id: Mapped[str] = mapped_column(
        ForeignKey("diagnoses.id", ondelete="CASCADE"), index=True
    )
    digest: Mapped[str] = mapped_column(Text)


class ComplaintRow(DeclarativeTable):
    """Somebody's word that a result is wrong; it goes with the result."""

    __tablename__ = "complaints"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    diagnosis_id: Mapped[str] = mapped_column(
        ForeignKey("diagnoses.id", ondelete="CASCADE"), index=True
    )
    at: Mapped[datetime] = mapped_column(UtcTime)
    text: Mapped[str] = mapped_column(Text)


class WorkerRow(DeclarativeTable):
    """What a worker process last said about its sandbox (JSON of `Readiness`)."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(UtcTime)
    readiness: Mapped[str] = mapped_column(Text)
