"""A result as Markdown, for a forum or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.pages import wording
from app.schemas import Cause, Diagnosis, Event, Patch

_TICKS = re.compile(r"`{3,}")


def as_markdown(diagnosis: Diagnosis) -> str:
    """One sentence, the cause, the patch with its checks, and the address."""
    parts = [f"**{wording.headline(diagnosis)}.** {diagnosis.summary}"]
    for cause in diagnosis.causes[:1]:
        parts += [cause.explanation.strip(), "\n".join(_places(cause))]
    for patch in diagnosis.patches[:1]:
        parts += _patch(patch)
    parts.append(f"Diagnosed by [Gradmend]({diagnosis.url}).")
    return "\n\n".join(part for part in parts if part) + "\n"


def _places(cause: Cause) -> Iterator[str]:
    events = (
        ("made", cause.created),
        ("freed", cause.freed_by),
        ("reached again", cause.reached_again_by),
    )
    for word, event in events:
        if event:
            yield f"- {word}: {_event(event)}"
    if cause.carrier:
        yield f"- carried by `{cause.carrier.name}` (line {cause.carrier.line})"


def _event(event: Event) -> str:
    code = f" `{event.code.strip()}`" if event.code.strip() else ""
    when = f", iteration {event.iteration}" if event.iteration else ""
    return f"`{event.file}` line {event.line}{when}{code}"


def _patch(patch: Patch) -> Iterator[str]:
    yield f"**{patch.title}** ({wording.GRADIENTS[patch.gradients]}; {wording.proof(patch)})"
    yield fenced(patch.diff, "diff")
    yield "\n".join(
        f"- {wording.CHECKS[check.name]}: {wording.STATES[check.status]}"
        + (f" ({check.detail})" if check.detail else "")
        for check in patch.verification.checks
    )


def fenced(text: str, language: str) -> str:
    """A fenced block whose fence is longer than any in the text."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
