"""Everything that a process of the service holds: made once, started, stopped."""

from __future__ import annotations

import asyncio
import gc
import hmac
import time
from collections.abc import AsyncIterator
from typing import Any

import structlog
from fastapi import Request
from pydantic import BaseModel

from app.change_schemas import VerificationRequest
from app.core import Core
from app.http.clients import sender_of
from app.http.idempotency import key_of
from app.http.problems import EXPIRED, ProblemError, not_found, refused
from app.jobs import Diagnose, Jobs, QueueFullError
from app.jobs.embedded import EmbeddedJobs
from app.readiness import READY_S, STORE_S, Ready
from app.request.change_versions import resolved
from app.request.limits import check
from app.request.reader import Reader, ReadingLimit
from app.run.sandboxes import readiness_of
from app.schemas import Diagnosis, DiagnosisRequest
from app.settings import Settings
from app.store import (
    KeyTakenError,
    StoredEvent,
)
from app.store.attempts import DoneEvent
from app.store.complaints import LONGEST
from app.store.request_kinds import DIAGNOSIS, Answer, Asked, RequestKind
from app.store.wakeups import moment
from sandbox.protocol import Readiness

log = structlog.get_logger()

RETRY_AFTER_S = 5
RESOLVING_S = 10.0  # how long a patch may take to be applied
TOKEN_HEADER = "X-Delete-Token"
TOKEN_COOKIE = "gradmend_delete"


class Service(Core):
    """A web process: accepts diagnoses, and reports their results."""

    def __init__(self, settings: Settings, diagnose_with: Diagnose | None = None) -> None:
        super().__init__(settings, diagnose_with)
        self.jobs: Jobs = self._jobs()
        self._parser: Reader | None = None

    def _jobs(self) -> Jobs:
        if self.settings.jobs == "embedded":
            return EmbeddedJobs(self.store, self.runner, self.settings)
        from app.jobs.queue import QueueJobs  # only with the `postgres` extra

        return QueueJobs(self.database, self.store, self.settings)

    async def _warm_up(self) -> None:
        await super()._warm_up()
        host = "127.0.0.1" if self.settings.host in ("0.0.0.0", "::") else self.settings.host
        log.info(f"Open http://{host}:{self.settings.port}")

    async def start(self) -> None:
        """Open everything and take up what an earlier process left."""
        await self.open(diagnosing=self.settings.jobs == "embedded")
        await self.jobs.start()

    async def stop(self) -> None:
        """Stop taking work, end or hand back what runs, close."""
        self.close_waiting()
        await self.jobs.stop()
        if self._parser is not None:
            await self._parser.close()
        await self.close()

    @property
    def parser(self) -> Reader:
        """Return the parser of large bodies: the one for sources, or its own if sources are not
        read."""
        if self.reader is not None:
            return self.reader
        if self._parser is None:
            self._parser = Reader(workers=1, prepare=gc.freeze)
        return self._parser

    def close_waiting(self) -> None:
        """End the calls that wait and the event streams: the process is about to end."""
        self.database.wakeups.close()

    async def accept(self, http: Request, request: DiagnosisRequest) -> str:
        """Check, store and queue a request; its id.

        With an `Idempotency-Key` that was used for the same request: that one's id.
        Raises `ProblemError`: a limit is broken, the key belongs to another request, or too
        much waits already.
        """
        torch = await self._torch(request.torch)
        return await self._admit(http, check(request.model_copy(update={"torch": torch})))

    async def accept_change(self, http: Request, sent: VerificationRequest) -> str:
        """Accept a change to be verified, and return its id.

        Raise `ProblemError`, also if a patch does not apply or the named diagnosis does not exist.
        """
        earlier = None
        if sent.diagnosis is not None:
            earlier = (
                await self.store.request(sent.diagnosis) if plausible(sent.diagnosis) else None
            )
            if earlier is None:
                raise not_found("diagnosis with this id", EXPIRED)
        try:
            change = await self.parser.call(resolved, sent, earlier, timeout=RESOLVING_S)
        except ReadingLimit as limit:
            raise refused("patch", f"is too intricate to apply ({limit})") from None
        change.torch = await self._torch(change.torch)
        return await self._admit(http, change)

    async def _torch(self, asked: str | None) -> str | None:
        """Return by which name a version of torch is known, None for the service's own. Raise
        `ProblemError` if it has no such version."""
        if not asked:
            return None
        names = self.settings.torches
        for name in names:
            if f"{name}.".startswith(f"{asked}."):
                return name
        own = (await self._readiness()).environment.get("torch", "")
        if f"{own}.".replace("+", ".").startswith(f"{asked}."):
            return None
        here = ", ".join([*([f"{own} (its own)"] if own else []), *names])
        raise refused("torch", f"{asked} is not installed here; this service has {here or 'none'}")

    async def _admit(self, http: Request, request: BaseModel) -> str:
        key = key_of(http, request)
        try:
            return await self.jobs.submit(request, key, sender_of(http))
        except KeyTakenError as taken:
            if key is None or taken.digest != key.digest:
                why = "This Idempotency-Key came with another request before; send a new one."
                raise ProblemError(422, "idempotency-key-reused", why) from None
            return taken.diagnosis_id
        except QueueFullError:
            self.metrics.refused("queue")
            raise ProblemError(
                503,
                "queue-full",
                f"{await self.jobs.waiting()} requests wait already; "
                f"try again in {RETRY_AFTER_S} seconds.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            ) from None

    async def diagnosis(self, diagnosis_id: str) -> Diagnosis | None:
        """Return the diagnosis so far; None if there is none, or no longer."""
        return await self.answer(diagnosis_id, DIAGNOSIS)

    async def answer(self, request_id: str, kind: RequestKind[Any, Any, Answer]) -> Answer | None:
        """Return the answer to a request of this kind so far; None if there is none, or no
        longer."""
        return await self.store.answer(request_id, kind) if plausible(request_id) else None

    async def request(self, diagnosis_id: str) -> DiagnosisRequest | None:
        """Return what was sent; None if there is none, or no longer."""
        return await self.asked(diagnosis_id, DIAGNOSIS)

    async def asked(self, request_id: str, kind: RequestKind[Asked, Any, Any]) -> Asked | None:
        """Return what was sent for a request of this kind; None if there is none, or no longer."""
        return await self.store.asked(request_id, kind) if plausible(request_id) else None

    async def token(self, diagnosis_id: str) -> str | None:
        """Return the token that deletes the diagnosis, to be sent to its sender only."""
        return (await self.store.owner(diagnosis_id)).token

    async def may_delete(self, http: Request, diagnosis_id: str) -> bool:
        """Return True if the request is the sender's.

        It shows the token, or comes from the diagnosis' sender (the same API key, else the same
        address).
        """
        owner = await self.store.owner(diagnosis_id)
        shown = http.headers.get(TOKEN_HEADER) or http.cookies.get(TOKEN_COOKIE) or ""
        if owner.token and hmac.compare_digest(shown.encode(), owner.token.encode()):
            return True
        return owner.sender is None or owner.sender == sender_of(http)

    async def discard(self, http: Request, diagnosis_id: str) -> bool:
        """Forget a diagnosis and its script, and end its work; False: there was none.

        Raises `ProblemError` where somebody else sent it.
        """
        if not await self.may_delete(http, diagnosis_id):
            why = f"Only its sender may delete it: send the {TOKEN_HEADER} that answered the POST."
            raise ProblemError(403, "not-the-sender", why)
        found = await self.store.delete(diagnosis_id)
        await self.jobs.cancel(diagnosis_id)
        return found

    async def report(self, diagnosis_id: str, text: str) -> None:
        """Keep somebody's word that a result is wrong. Raises `ProblemError`."""
        if len(text) > LONGEST:
            raise refused("text", f"is {len(text)} characters long; the limit is {LONGEST}")
        if not await self.complaints.add(diagnosis_id, text.strip()):
            raise ProblemError(429, "reported", "This result was reported often enough.")
        self.metrics.complained()

    async def keep(self, http: Request, diagnosis_id: str) -> None:
        """Keep a diagnosis until it is deleted. Raises `ProblemError` where somebody else sent it,
        or where this service keeps nothing for good."""
        if not self.settings.keep_on_request:
            raise ProblemError(403, "not-kept", "This service keeps no result for good.")
        if not await self.may_delete(http, diagnosis_id):
            why = (
                f"Only its sender may have it kept: send the {TOKEN_HEADER} that answered the POST."
            )
            raise ProblemError(403, "not-the-sender", why)
        await self.store.keep(diagnosis_id)

    async def wait(self, diagnosis_id: str, seconds: float) -> bool:
        """Wait for the result, so long at most; whether it is there."""
        until = time.monotonic() + seconds
        with self.database.wakeups.watching(diagnosis_id) as happened:
            while True:
                happened.clear()
                finished = await self.store.finished(diagnosis_id)
                left = until - time.monotonic()
                if finished is not False or left <= 0 or self.database.wakeups.closing:
                    return bool(finished)
                await moment(happened, min(1.0, left))

    async def events(self, diagnosis_id: str, after: int) -> AsyncIterator[StoredEvent]:
        """Yield the events after `after`, as they happen, up to `done`; a deletion ends them,
        too."""
        with self.database.wakeups.watching(diagnosis_id) as happened:
            while True:
                happened.clear()
                # Asked first: what is finished by now has its `done` among the events below.
                finished = await self.store.finished(diagnosis_id)
                for event in await self.store.events(diagnosis_id, after):
                    after = event.seq
                    yield event
                    if event.kind == "done":
                        return
                if finished is None:
                    gone = DoneEvent(id=diagnosis_id, status="deleted")
                    yield StoredEvent(after + 1, "done", gone.model_dump_json())
                if finished is not False or self.database.wakeups.closing:
                    return
                await moment(happened)

    async def ready(self) -> Ready:
        """Return whether the database answers and the walls are up, here or at a worker."""
        ready = Ready(
            ready=False,
            backend="unknown",
            torches=list(self.settings.torches),
            jobs=self.settings.jobs,
            database=self.database.engine.dialect.name,
            assistant=self.assistant.host if self.assistant else None,
        )
        try:
            async with asyncio.timeout(STORE_S):
                await self.database.prove_writable()
            known = await self._readiness()
        except Exception as error:  # whatever it is, the service is not ready because of it
            ready.reason = f"the database takes nothing ({type(error).__name__})"
            return ready
        return ready.model_copy(update=known.model_dump())

    async def _readiness(self) -> Readiness:
        if self.settings.jobs == "embedded":
            return await readiness_of(self.sandboxes.own, within_s=READY_S)
        live = await self.reports.live()
        if not live:
            return Readiness(ready=False, backend="none", reason="no worker is running")
        return next((report for report in live if report.ready), live[0])


def plausible(request_id: str) -> bool:
    """Return True if the text can be an id at all; PostgreSQL takes no NUL in a query."""
    return request_id.isascii() and request_id.isprintable() and len(request_id) <= 64
