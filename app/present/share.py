"""A result as Markdown, for a forum or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.present import fix_wording, wording
from app.present.story import carried, notes
from app.schemas import Cause, Diagnosis, Event, Findings, Patch

LONGEST_CHANGE = 7
"""Changed lines that fit into the short form."""

_TICKS = re.compile(r"`{3,}")


def as_markdown(diagnosis: Diagnosis) -> str:
    """Return one sentence, the cause, the patch with its checks, and the address."""
    found = _as_markdown(diagnosis, wording.headline(diagnosis))
    return f"{found}\nDiagnosed by [Gradmend]({diagnosis.url}).\n"


def findings_as_markdown(found: Findings) -> str:
    """Return the same for findings that have no address."""
    return _as_markdown(found, wording.state(found).words)


def _as_markdown(found: Findings, headline: str) -> str:
    parts = [f"**{headline}.** {found.summary}", found.fix, *found.notes]
    if (remedy := wording.remedy(found)) and remedy not in found.summary:
        parts.append(remedy)
    for cause in found.causes[:1]:
        parts += [cause.explanation.strip(), "\n".join(_places(cause))]
    for patch in found.patches[:1]:
        parts += _patch(patch)
    parts += _next(found)
    return "\n\n".join(part for part in parts if part) + "\n"


def as_short_markdown(diagnosis: Diagnosis) -> str:
    """Return at most twelve lines, for an issue: what, where, the change itself, the address."""
    said = wording.sentences(diagnosis.summary)[0]
    parts = [
        f"**{wording.headline(diagnosis)}.** {said} {diagnosis.fix}".rstrip(),
        *diagnosis.notes,
    ]
    if (remedy := wording.remedy(diagnosis)) and remedy not in said:
        parts.append(remedy)
    for patch in diagnosis.patches[:1]:
        changed = [
            line
            for line in patch.diff.split("\n")
            if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")
        ]
        short = len(changed) <= LONGEST_CHANGE
        where = ":" if short else f": {len(changed)} lines, at the address below."
        parts.append(f"{patch.title} ({fix_wording.level_and_proof(patch)}){where}")
        if short:
            parts.append(fenced("\n".join(changed), "diff"))
    parts += _next(diagnosis)
    parts.append(f"[How we know]({diagnosis.url})")
    return "\n".join(parts) + "\n"


def _next(found: Findings) -> Iterator[str]:
    """Yield what would settle what is open."""
    for step in wording.open_steps(found)[:1]:
        value = f": `{step.value}`" if step.value and "`" not in step.value else ""
        yield f"Next: {step.text.removesuffix('.')}{value or '.'}"


def _places(cause: Cause) -> Iterator[str]:
    for event, note in notes(cause):
        yield f"- {_event(event)} {note}"
    if cause.carrier:
        yield f"- `{cause.carrier.name}` (line {cause.carrier.line}) {carried(cause)}"


def _event(event: Event) -> str:
    code = f" `{event.code.strip()}`" if event.code.strip() else ""
    when = f", iteration {event.iteration}" if event.iteration else ""
    return f"`{event.file}` line {event.line}{when}{code}"


def _patch(patch: Patch) -> Iterator[str]:
    yield f"**{patch.title}** ({fix_wording.level_and_proof(patch)}; {fix_wording.effect(patch)})"
    yield fenced(patch.diff, "diff")
    yield "\n".join(
        f"- {fix_wording.CHECKS[check.name]}: {fix_wording.STATES[check.status]}"
        + (f" ({detail})" if (detail := fix_wording.figures(check)) else "")
        for check in fix_wording.asked(patch)
    )


def fenced(text: str, language: str) -> str:
    """Return a fenced block whose fence is longer than any in the text."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
