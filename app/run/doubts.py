"""What a run only doubts is held against the source that ran: what reading finds no fault in is
told to nobody, neither of the script as it was sent nor of its patches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.request.causes import recognised
from analyzers.source.project import Project
from app.request.case import READING_LIMIT_S
from app.request.reader import Reader, ReadingLimit
from app.run.witness import silent
from sandbox.protocol import Job, RunResult, Session


@dataclass(frozen=True)
class Doubting:
    """A session whose runs tell of doubtful faults only those that reading sees, too. `project`
    is what was sent; a job's own files are read in its place."""

    session: Session
    project: Project
    reader: Reader

    async def run(self, job: Job) -> RunResult:
        """Run it, and read it again where the run leaves doubts. What cannot be read stays."""
        result = await self.session.run(job)
        records = result.trace.silent if result.trace is not None else []
        doubts = [record for record in records if record.doubtful]
        if result.trace is None or not doubts:
            return result
        read = replace(self.project, files=job.files, entry=job.entry)
        pieces = tuple(silent(record) for record in doubts)
        try:
            faults = await self.reader.call(recognised, read, pieces, timeout=READING_LIMIT_S)
        except ReadingLimit:
            return result
        dismissed = [r for r, fault in zip(doubts, faults, strict=True) if not fault]
        left = [r for r in records if all(r is not one for one in dismissed)]
        trace = result.trace.model_copy(update={"silent": left})
        return result.model_copy(update={"trace": trace})
