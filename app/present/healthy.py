"""What a run looked for and did not find: what a reader of "healthy" wants to know."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.explain.pattern import patterns
from app.present.wording import calls, lowered
from app.schemas import Diagnosis


@dataclass(frozen=True, slots=True)
class Looked:
    """Something that was looked at; `rule` is the id of its pattern, where it has one."""

    text: str
    rule: str = ""


def looked_for(diagnosis: Diagnosis) -> list[Looked]:
    """Return what the run of a healthy script shows: that it went well, and each fault that the
    tracer looks for in every run (patterns that say `SEEN_AS`). Empty for other results."""
    run = diagnosis.run
    if diagnosis.verdict != "healthy" or run is None or run.tampered:
        return []
    looked = [Looked(f"No error in {calls(run.backward_calls)}.")]
    seen = [p for p in patterns().values() if hasattr(p, "SEEN_AS")]
    looked += [Looked(f"Not found: {lowered(p.TITLE)}.", p.ID) for p in seen]
    return looked
