"""What agents are answered: one structured value each, never more than a kilobyte."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from app.present.guide import Guide
from app.schemas import Findings, Level, Patch, Verified

MOST_BYTES = 1000
CUT = " …"
OPTIONAL = ("diff", "next", "name", "broken", "mended")

A = TypeVar("A", bound="Answer")


class Answer(BaseModel):
    """`cut` names the fields that were shortened or left out to fit."""

    cut: list[str] = []


class Fix(BaseModel):
    """`n` is what `apply` takes. `tested`: it ran in the sandbox and passed its checks. `training`:
    what it does to the gradients."""

    n: int
    title: str
    tested: Verified
    level: Level
    training: str
    diff: str | None


class Diagnosed(Answer):
    """The cause (`pattern`, `file`, `line`, `name` of the tensor) and the best fix; `fixes` is how
    many there are. `next` is what would settle what is open."""

    id: str
    verdict: str
    summary: str
    pattern: str | None = None
    file: str | None = None
    line: int | None = None
    name: str | None = None
    fix: Fix | None = None
    fixes: int = 0
    next: str | None = None


class Applied(Answer):
    """What `apply` did, or the diff to apply."""

    done: str
    diff: str | None = None


class Explained(Answer):
    """What a pattern is, how it is mended, and an example of both."""

    pattern: str
    title: str
    summary: str
    mended: str | None = None
    broken: str | None = None


def diagnosed(name: str, found: Findings) -> Diagnosed:
    """Findings in brief; `name` is how they are asked for again."""
    answer = Diagnosed(
        id=name,
        verdict=found.verdict or "running",
        summary=found.summary,
        fix=_fix(found.patches[0]) if found.patches else None,
        fixes=len(found.patches),
        next=next((f"{step.text} {step.value or ''}".strip() for step in found.next), None),
    )
    for cause in found.causes[:1]:
        answer.pattern, answer.file, answer.line = (
            cause.pattern,
            cause.location.file,
            cause.location.line,
        )
        answer.name = cause.carrier.name if cause.carrier else None
    fix = answer.fix
    order = ((fix, "diff"), (answer, "next"), (answer, "summary"), (fix, "title"))
    return _fitted(answer, *order, (answer, "name"), (answer, "file"))


def applied(done: str, diff: str | None = None) -> Applied:
    """What was done; a diff that is too long is left out."""
    answer = Applied(done=done, diff=diff)
    return _fitted(answer, (answer, "diff"), (answer, "done"))


def explained(guide: Guide) -> Explained:
    """A guide in brief: the mended example matters most, then the broken one."""
    answer = Explained(
        pattern=guide.name,
        title=guide.title,
        summary=guide.lead,
        mended=guide.mended or None,
        broken=guide.broken or None,
    )
    return _fitted(answer, (answer, "broken"), (answer, "mended"), (answer, "summary"))


def _fix(patch: Patch) -> Fix:
    return Fix(
        n=patch.n,
        title=patch.title,
        tested=patch.verification.status,
        level=patch.level,
        training=patch.gradients,
        diff=patch.diff,
    )


def _fitted(answer: A, *shortened: tuple[BaseModel | None, str]) -> A:
    """The answer within its limit: fields give way in this order, optional ones as a whole."""
    for holder, field in shortened:
        excess = len(answer.model_dump_json().encode()) - MOST_BYTES
        if excess <= 0:
            break
        text = getattr(holder, field, None)
        if holder is not None and text:
            answer.cut.append(field)
            left_out = field in OPTIONAL
            setattr(holder, field, None if left_out else _shortened(text, excess + len(field) + 3))
    return answer


def _shortened(text: str, excess: int) -> str:
    """The text without so many bytes at its end, as JSON writes them at most."""
    kept = text
    while kept and len(text.encode()) - len(kept.encode()) < excess + len(CUT.encode()):
        kept = kept[: -max(1, len(kept) // 16)]
    return kept + CUT
