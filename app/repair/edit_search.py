"""Search the edits that the evidence suggests, where no known fix of a reproduced error passed.

It runs within what the diagnosis has left of its time, and tries few edits: those that fit the
evidence best, then edits on top of those whose run got further and met another fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzers.request.causes import Candidate, searched
from app.repair.follow_up import Faults
from app.repair.tested_candidate import TestedCandidate
from app.request.case import READING_LIMIT_S
from app.request.reader import ReadingLimit

MOST_EDITS = 8  # of one piece of evidence
ROUNDS = 2  # an edit, and one more on top of it


def searching(faults: Faults) -> Faults:
    """Return the same faults, for whose patched runs edits are searched, too."""
    return replace(faults, propose=searched, met=set())


async def edits_to_try(faults: Faults, tried: Sequence[TestedCandidate]) -> list[Candidate]:
    """Return the edits that the script's own fault suggests and that were not tried yet, cheapest
    first; then those of later faults, on top of what was tried. None if reading exceeds a limit.
    """
    try:
        causes = await faults.reader.call(
            searched, faults.case.project, (faults.first,), timeout=READING_LIMIT_S
        )
    except ReadingLimit:
        return []
    known = [trial.candidate.files for trial in tried]
    found = [one for cause in causes[:1] for one in cause.candidates if one.files not in known]
    later = await searching(faults).later_faults(tried)
    onward = [one for fault in later for one in fault.candidates]
    sent = faults.case.project.files.items()
    return [*found[:MOST_EDITS], *(one for one in onward if not one.files.items() <= sent)]


def is_offered(trial: TestedCandidate) -> bool:
    """Return True if an edit that a search has found may be offered as a fix.

    Nobody has said that it is the usual fix of this fault. So it must not change what the script
    trains, except that it cuts what an earlier backward call has used. Where there are no gradients
    to compare, none may be missing either.
    """
    steady = not (trial.schedule.problem or trial.unsteady or trial.loses_gradient)
    return trial.status == "passed" and trial.gradients != "changed" and steady
