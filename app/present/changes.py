"""The verdict on a change in words: for pages, Markdown, the terminal and agents."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from app.change_schemas import ChangeFindings, ChangeVerification
from app.present import fix_wording
from app.schema_types import Status
from app.verdict import Sameness, Witness

WORDS: dict[str | None, str] = {
    "same": "Same training",
    "truncated": "Truncated",
    "changed": "Changes the training",
    "breaks": "Breaks the training",
    "not_comparable": "Not comparable",
    None: "Comparing",
}
TONES: dict[str | None, str] = {"same": "good", "truncated": "good", "changed": "unsure"}
TONES |= {"breaks": "unsure", "not_comparable": "plain", None: "plain"}

CHECKS: dict[str, str] = {
    **fix_wording.CHECKS,
    "control": "The original repeats itself",
    "plain": "Equal with the script's own random numbers",
    "held": "Equal at fixed parameters, with the same random numbers",
    "double": "Equal in double precision",
}
STATES = {"passed": "yes", "failed": "no", "differs": "no, differs", "not_run": "not tested"}
LONGEST_SUMMARY = 400
LONGEST_FIELD = 80


class BriefVerification(BaseModel):
    """What `?view=brief` answers, under 1 kB."""

    id: str
    url: str
    status: Status
    verdict: Sameness | None = None
    summary: str = ""
    witness: Witness | None = None


def brief_change(result: ChangeVerification) -> BriefVerification:
    """Return the verdict and the first difference; long texts are cut."""
    witness = result.witness
    if witness is not None:
        texts = ("parameter", "what", "file_before", "file_after", "code_before", "code_after")
        cut = {name: _cut(getattr(witness, name), LONGEST_FIELD) for name in texts}
        witness = witness.model_copy(update=cut)
    return BriefVerification(
        id=result.id,
        url=result.url,
        status=result.status,
        verdict=result.verdict,
        summary=_cut(result.summary, LONGEST_SUMMARY),
        witness=witness,
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def change_as_markdown(found: ChangeFindings, url: str = "") -> str:
    """Return the verdict, the first difference, what was noted, and the address."""
    parts = [f"**{WORDS[found.verdict]}.** {found.summary}"]
    parts += [f"- {line}" for line in (*witness_lines(found.witness), *found.notes)]
    if found.better is not None:
        parts.append(f"- {better_line(found)}")
    if url:
        parts.append(f"[How we know]({url})")
    return "\n".join(parts) + "\n"


def better_line(found: ChangeFindings) -> str:
    """Return what our own fix keeps, where it keeps more."""
    assert found.better is not None
    kept = {"same": "leaves the gradients the same", "truncated": "only truncates the gradients"}
    return f"Gradmend's own fix {kept.get(found.better.gradients, '')}: {found.better.title}"


def witness_lines(witness: Witness | None) -> Iterator[str]:
    """Yield where the training differs first, and by how much."""
    if witness is None:
        return
    named = f"`{witness.parameter}` " if witness.parameter else ""
    gap = f" (difference {witness.difference:.1e})" if witness.difference is not None else ""
    yield f"{moment(witness)}: {named}{witness.what}{gap}"
    yield from (f"{side}: {place}" for side, place in places(witness))


def places(witness: Witness) -> Iterator[tuple[str, str]]:
    """Yield the line of each version at which the training differs first, with its loss."""
    for side in ("before", "after"):
        line, file, code, loss = (
            getattr(witness, f"{part}_{side}") for part in ("line", "file", "code", "loss")
        )
        if line:
            place = f"{file}:{line}" if file else f"line {line}"
            quoted = f" `{code.strip()[:LONGEST_FIELD]}`" if code.strip() else ""
            yield side, place + quoted + (f", loss {loss:.6g}" if loss is not None else "")


def moment(witness: Witness) -> str:
    """Return when the training differs first."""
    if witness.step is None:
        return "At the end"
    if witness.last_equal_step:
        return f"Between the compared steps {witness.last_equal_step} and {witness.step}"
    return f"Step {witness.step}" if witness.step else "Before the first step"
