"""One diagnosis from its claim to its stored result."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import structlog
from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError

from app.change_schemas import ChangeFindings, ChangeRequest
from app.http.metrics import Metrics
from app.jobs.known import is_settled
from app.schemas import BaseFindings, Cause, DiagnosisRequest, Findings, Patch, Timings
from app.store import Attempts, Claim
from app.store.attempts import EventKind, Reported
from app.store.request_kinds import VERIFICATION, kind_of, stored_events

if TYPE_CHECKING:
    from app.diagnose import Progress

TOGETHER_S = 0.05

Diagnose = Callable[[DiagnosisRequest, "Progress"], Awaitable[Findings]]
Verify = Callable[[ChangeRequest, "Progress"], Awaitable[ChangeFindings]]

log = structlog.get_logger()


class OutdatedError(Exception):
    """A newer attempt has taken the diagnosis over, or it was deleted."""


class StoredStage(BaseModel):
    """`progress`: `done` of `total` steps of a stage."""

    stage: str
    done: int
    total: int
    message: str


class StoredProgress:
    """Progress that goes to the store, where the event streams find it.

    Nobody waits for the store here: events within a moment are written together, and what is left
    at the end is written with the result.
    """

    def __init__(self, attempts: Attempts, claim: Claim) -> None:
        self._attempts = attempts
        self._claim = claim
        self._unwritten: list[Reported] = []
        self._moment: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        event = StoredStage(stage=stage, done=done, total=total, message=message)
        self._tell("progress", event)

    async def cause(self, cause: Cause) -> None:
        self._tell("cause", cause)

    async def patch(self, patch: Patch) -> None:
        self._tell("patch", patch)

    async def rest(self) -> list[Reported]:
        """Return the events left to be written after the last report.

        Raise `OutdatedError`, and what the database raised.
        """
        self._forget_moment()
        if self._writing is not None:
            await self._writing
        return self._unwritten

    async def close(self) -> None:
        """Write nothing more."""
        self._forget_moment()
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)

    def _tell(self, kind: EventKind, data: BaseModel) -> None:
        if self._writing is not None and self._writing.done():
            self._writing.result()
        self._unwritten.append((kind, data))
        if self._moment is None:
            self._moment = asyncio.get_running_loop().call_later(TOGETHER_S, self._start)

    def _forget_moment(self) -> None:
        if self._moment is not None:
            self._moment.cancel()
            self._moment = None

    def _start(self) -> None:
        self._moment = None
        self._writing = asyncio.create_task(self._write(self._writing))

    async def _write(self, before: asyncio.Task[None] | None) -> None:
        """Write the collected events after those that are being written."""
        if before is not None:
            await before
        events, self._unwritten = self._unwritten, []
        if events and not await self._attempts.record(self._claim, *events):
            raise OutdatedError


class Runner:
    """Claims requests, keeps their leases alive, and stores what `diagnose` or `verify` finds.

    With `identify`, a request that it gives the digest of one before gets what was found then.
    """

    def __init__(
        self,
        attempts: Attempts,
        diagnose: Diagnose,
        metrics: Metrics,
        *,
        lease_s: float,
        max_attempts: int,
        identify: Callable[[str], str] | None = None,
        verify: Verify | None = None,
    ) -> None:
        self._attempts = attempts
        self._diagnose = diagnose
        self._verify = verify
        self._metrics = metrics
        self._lease_s = lease_s
        self._max_attempts = max_attempts
        self._identify = identify

    async def knows(self, request: BaseModel) -> bool:
        """Return True if the very same request would be answered without any work."""
        return await self.known(request) is not None

    async def known(self, request: BaseModel) -> BaseFindings | None:
        """Return what was found for the very same request, or None if it would be work."""
        if self._identify is None:
            return None
        digest = self._identify(request.model_dump_json())
        found: BaseFindings | None = await self._attempts.known(digest, kind_of(request))
        return found

    async def run(self, diagnosis_id: str) -> None:
        """Work on a diagnosis until it has a result, or somebody else has it.

        When cancelled, hand the diagnosis back to the queue.
        """
        claim = await self._attempts.claim(diagnosis_id)
        if claim is None:
            return
        with structlog.contextvars.bound_contextvars(diagnosis=claim.id, attempt=claim.attempt):
            try:
                await self._work(claim)
            except OutdatedError:
                log.info("diagnosis left to a newer attempt, or deleted")
            except DBAPIError as error:
                log.warning(
                    "the store was lost; another attempt follows", error=type(error).__name__
                )
                with contextlib.suppress(DBAPIError):  # if it is still gone, the lease lapses
                    await self._attempts.hand_back(claim)
            except asyncio.CancelledError:
                await asyncio.shield(self._attempts.hand_back(claim))
                log.info("diagnosis handed back")
                raise

    async def _work(self, claim: Claim) -> None:
        queue_ms = _since(claim.created_at)
        if claim.attempt > self._max_attempts:
            gone = "Its worker ended {} times before a result; it is not tried again."
            await self._fail(claim, gone.format(claim.attempt - 1))
            return
        began = time.perf_counter()
        try:
            findings, digest, events = await self._known_or_found(claim)
        except (OutdatedError, DBAPIError, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("diagnosis failed", error=type(error).__name__)
            await self._fail(claim, "Gradmend itself failed on this request; the fault is logged.")
            return
        findings.timings_ms.queue = queue_ms
        findings.timings_ms.total = _since(claim.created_at)
        if await self._attempts.finish(claim, "done", findings, digest, events):
            self._metrics.finished(findings)
            seconds = round(time.perf_counter() - began, 3)
            log.info("diagnosis done", verdict=findings.verdict, seconds=seconds)

    async def _known_or_found(
        self, claim: Claim
    ) -> tuple[BaseFindings, str | None, list[Reported]]:
        """Return the findings, their digest and the events still to be sent.

        The digest answers the same request again; the events precede the diagnosis' end.
        """
        if self._identify is None:
            findings, events = await self._while_held(claim)
            return findings, None, events
        digest = self._identify(claim.asked)
        known: BaseFindings | None = await self._attempts.known(digest, claim.kind)
        if known is not None:
            untimed = known.model_copy(update={"timings_ms": Timings()})
            return untimed, digest, list(stored_events(known))
        findings, events = await self._while_held(claim)
        return findings, digest if is_settled(claim.request, findings) else None, events

    async def _while_held(self, claim: Claim) -> tuple[BaseFindings, list[Reported]]:
        """Do the work, and stop as soon as the lease turns out to be lost."""
        progress = StoredProgress(self._attempts, claim)
        work = asyncio.ensure_future(self._found(claim, progress))
        lease = asyncio.create_task(self._keep_lease(claim))
        try:
            await asyncio.wait({work, lease}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result(), await progress.rest()
            lease.result()  # an error of the store's, if that is what ended it
            raise OutdatedError
        finally:
            for task in (work, lease):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(work, lease, return_exceptions=True)
                await progress.close()

    async def _found(self, claim: Claim, progress: StoredProgress) -> BaseFindings:
        work: Any = self._verify if claim.kind is VERIFICATION else self._diagnose
        found: BaseFindings = await work(claim.request, progress)
        return found

    async def _keep_lease(self, claim: Claim) -> None:
        """Renew the lease until it is lost."""
        while True:
            await asyncio.sleep(self._lease_s / 4)
            if not await self._attempts.renew(claim):
                return

    async def _fail(self, claim: Claim, why: str) -> None:
        findings = claim.kind.findings(verdict=claim.kind.failed, summary=why)
        if await self._attempts.finish(claim, "failed", findings):
            self._metrics.failed()


def _since(moment: datetime) -> float:
    """Return milliseconds since then; 0 if this clock is behind the one it was read from."""
    return max(0.0, round((datetime.now(UTC) - moment).total_seconds() * 1000, 1))
