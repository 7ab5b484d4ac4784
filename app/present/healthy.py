"""What a run looked for and did not find: what a reader of "healthy" wants to know."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.explain.listed import lowered
from analyzers.explain.pattern import patterns
from app.present.fix_wording import figures
from app.present.wording import calls
from app.schema_types import CheckStatus
from app.schemas import Check, Diagnosis

MEASURED = {
    "learns": "Every parameter learns",
    "fresh": "Every backward uses the current weights",
    "bounded": "Memory does not grow across iterations",
    "gradcheck": "Custom Functions",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """Something that was looked at; `rule` is the id of its pattern, where it has one."""

    text: str
    rule: str = ""
    status: CheckStatus = "passed"


def looked_for(diagnosis: Diagnosis) -> list[Looked]:
    """Return what the run of a healthy script shows: that it went well, what was measured of its
    training, and each fault that the tracer looks for in every run (patterns that say `SEEN_AS`).
    Empty for other results."""
    run = diagnosis.run
    if diagnosis.verdict != "healthy" or run is None or run.tampered:
        return []
    looked = [Looked(f"No error in {calls(run.backward_calls)}.")]
    looked += [_measured(check) for check in run.checks if check.status != "failed"]
    seen = [p for p in patterns().values() if hasattr(p, "SEEN_AS")]
    looked += [Looked(f"Not found: {lowered(p.TITLE)}.", p.ID) for p in seen]
    return looked


def _measured(check: Check) -> Looked:
    """Return a check with its figures; those of a check that says nothing else are left out."""
    text = MEASURED[check.name]
    if check.status in ("not_run", "differs"):
        tested = "not tested, " if check.status == "not_run" else ""
        detail = check.detail.removesuffix(".")
        return Looked(f"{text}: {tested}{detail}.", status=check.status)
    return Looked(": ".join(filter(None, (text, figures(check, text)))) + ".")
