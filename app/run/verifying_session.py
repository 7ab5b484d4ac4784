"""Check silent faults that a run reported against the source that ran, for the script as it was
sent and for its patches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.request.causes import recognised
from analyzers.source.project import Project
from app.request.case import READING_LIMIT_S
from app.request.reader import Reader, ReadingLimit
from app.run.run_evidence import silent_fault
from sandbox.protocol import Job, RunResult, Session


@dataclass(frozen=True)
class VerifyingSession:
    """A session that checks the silent faults of each run against static analysis.

    Runs keep a doubtful fault only if static analysis finds it too. Faults that it does not find
    are listed as `doubted` or `dismissed`. `project` is what was sent; a job's own files replace
    its files.
    """

    session: Session
    project: Project
    reader: Reader

    async def run(self, job: Job) -> RunResult:
        """Run the job, and re-read its source if it shows silent faults. If the source cannot be
        read in time, the result stays as it is.
        """
        result = await self.session.run(job)
        records = result.trace.silent if result.trace is not None else []
        if result.trace is None or not records:
            return result
        read = replace(self.project, files=job.files, entry=job.entry)
        pieces = tuple(silent_fault(record) for record in records)
        try:
            faults = await self.reader.call(recognised, read, pieces, timeout=READING_LIMIT_S)
        except ReadingLimit:
            return result
        seen = list(zip(records, faults, strict=True))
        kept = [record for record, fault in seen if fault or not record.doubtful]
        dismissed = [record for record, fault in seen if not fault and not record.doubtful]
        doubted = [record for record, fault in seen if not fault and record.doubtful]
        trace = result.trace.model_copy(update={"silent": kept})
        found = {"trace": trace, "dismissed": dismissed, "doubted": doubted}
        return result.model_copy(update=found)
