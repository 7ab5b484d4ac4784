"""What agents are answered: one structured value each, under two kilobytes unless more is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel

from app.present.guide import Guide
from app.present.story import notes
from app.schema_types import Level, Verified
from app.schemas import Cause, Findings, Patch

MOST_BYTES = 1900  # the protocol's own envelope comes on top
CUT = " …"
LONGEST_LINE = 120  # characters of a line of code
OPTIONAL = ("diff", "next", "name", "broken", "mended", "story", "checks", "notes", "better")

A = TypeVar("A", bound="AgentAnswer")


class AgentAnswer(BaseModel):
    """`cut` names the fields that were shortened or left out to fit."""

    cut: list[str] = []


class FixSummary(BaseModel):
    """`n` is what `apply` takes. `tested`: it ran in the sandbox and passed its checks. `level`:
    `apply` writes `safe` ones, others only when asked. `training`: its effect on the gradients."""

    n: int
    title: str
    tested: Verified
    level: Level
    training: str
    diff: str | None


class Diagnosed(AgentAnswer):
    """The cause (`rule`, `pattern`, `file`, `line`, `name` of the tensor; `story`: the lines and
    what each did: made the graph, freed it, needed it again) and the best fix; `fixes` is how many
    there are, which `show` shows. `next` is what would settle what is open."""

    id: str
    verdict: str
    summary: str
    rule: str | None = None
    pattern: str | None = None
    file: str | None = None
    line: int | None = None
    name: str | None = None
    story: list[str] | None = None
    fix: FixSummary | None = None
    fixes: int = 0
    next: str | None = None


class Shown(AgentAnswer):
    """A fix that was not written, with its checks."""

    fix: FixSummary
    effect: str
    checks: list[str] | None


class Applied(AgentAnswer):
    """What `apply` did, or the diff to apply."""

    done: str
    diff: str | None = None


class Explained(AgentAnswer):
    """What a pattern is, how it is fixed, and an example of both."""

    rule: str
    pattern: str
    title: str
    summary: str
    mended: str | None = None
    broken: str | None = None


def diagnosed(name: str, found: Findings) -> Diagnosed:
    """Return findings in brief; `name` is the key for asking again."""
    answer = Diagnosed(
        id=name,
        verdict=found.verdict or "running",
        summary=found.summary,
        fix=next((_fix(p) for p in found.patches if p.verification.status != "failed"), None),
        fixes=len(found.patches),
        next=next((f"{step.text} {step.value or ''}".strip() for step in found.next), None),
    )
    for cause in found.causes[:1]:
        answer.rule, answer.pattern = cause.id, cause.pattern
        answer.file, answer.line = cause.location.file, cause.location.line
        answer.story = [*_story(cause)]
        answer.name = cause.carrier.name if cause.carrier else None
    fix = answer.fix
    order = (
        (answer, "story"),
        (fix, "diff"),
        (answer, "next"),
        (answer, "summary"),
        (fix, "title"),
    )
    return fitted(answer, *order, (answer, "name"), (answer, "file"))


def _story(cause: Cause) -> Iterator[str]:
    for event, note in notes(cause):
        yield f"{event.file}:{event.line} {note}: {event.code.strip()[:LONGEST_LINE]}"


def shown(patch: Patch, *, full: bool = False) -> Shown:
    """Return a fix with its checks; what is too long is left out, unless the `full` is wanted."""
    answer = Shown(
        fix=_fix(patch),
        effect=patch.effect.text if patch.effect is not None else "",
        checks=[
            f"{check.name}: {check.status}" + (f" ({check.detail})" if check.detail else "")
            for check in patch.verification.checks
        ],
    )
    return answer if full else fitted(answer, (answer, "checks"), (answer.fix, "diff"))


def applied(done: str, diff: str | None = None) -> Applied:
    """Return what was done, with the diff unless it is too long."""
    answer = Applied(done=done, diff=diff)
    return fitted(answer, (answer, "diff"), (answer, "done"))


def explained(guide: Guide) -> Explained:
    """Return a guide in brief; the fixed example matters most, then the broken one."""
    answer = Explained(
        rule=guide.id,
        pattern=guide.name,
        title=guide.title,
        summary=guide.lead,
        mended=guide.mended or None,
        broken=guide.broken or None,
    )
    return fitted(answer, (answer, "broken"), (answer, "mended"), (answer, "summary"))


def _fix(patch: Patch) -> FixSummary:
    return FixSummary(
        n=patch.n,
        title=patch.title,
        tested=patch.verification.status,
        level=patch.level,
        training=patch.gradients,
        diff=patch.diff,
    )


def fitted(answer: A, *shortened: tuple[BaseModel | None, str]) -> A:
    """Return the answer within its limit: fields shrink in this order, optional ones are
    dropped."""
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
    """Return the text without at least `excess` bytes (as JSON) at its end."""
    kept = text
    while kept and len(text.encode()) - len(kept.encode()) < excess + len(CUT.encode()):
        kept = kept[: -max(1, len(kept) // 16)]
    return kept + CUT
