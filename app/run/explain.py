"""Name the causes of what was observed."""

from __future__ import annotations

from dataclasses import replace

from analyzers.request.causes import RankedCause, classify
from analyzers.request.hinted import as_shown
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.observation import Observation, project_of


async def explain(case: Case, seen: Observation, reader: Reader) -> list[RankedCause]:
    """Name the causes, with candidate patches, in a bounded worker."""
    if not seen.evidence:
        return [] if seen.ran_clean and seen.plan is None else list(case.from_traceback)
    try:
        project = project_of(case, seen)
        causes = await reader.call(classify, project, seen.evidence, timeout=READING_LIMIT_S)
    except ReadingLimit:
        return []
    if not causes and not seen.from_run:
        return list(case.from_traceback)
    shown = as_shown(causes, case.hints)
    return [c if c.basis != "read" else replace(c, basis=case.reading.basis) for c in shown]
