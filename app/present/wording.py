"""What people read in place of the contract's short names: one vocabulary for page, terminal and
shared text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from analyzers.certainty import Certainty, confidence
from analyzers.explain.listed import counted
from app.present.fix_wording import training, unchecked_fix
from app.schema_types import Level
from app.schemas import Cause, Diagnosis, Findings, NextStep, Patch, RunReport

LONGEST_TITLE = 100
"""Characters of a result's name in a list."""

Tone = Literal["good", "unsure", "plain"]


RUNS = {
    "reproduced": "Your error was reproduced here.",
    "ran_clean": "The script ran here without an error.",
    "other_error": "The script ended here in another way.",
    "timed_out": "The script was stopped at its time limit.",
    "limit_hit": "The script was stopped at a limit of the sandbox.",
    "unavailable": "The script was not run.",
}
SOURCES = {
    "trace": "the run showed it",
    "reading": "the source suggests it; no run has shown it",
    "both": "the run showed it, and the source says the same",
}
ASSUMED = {
    "import": "added import",
    "package": "package",
    "file": "file",
    "argument": "argument",
    "name": "missing name",
    "api": "older version",
    "indentation": "indentation",
}
_LIKELY = 0.7


@dataclass(frozen=True, slots=True)
class Badge:
    """How far a result reaches, in two or three words, and how it is coloured."""

    words: str
    tone: Tone


def state(found: Findings, status: str = "done") -> Badge:
    """Return what a badge says. Green means seen to work, amber means not tried."""
    if status == "failed":
        return Badge("Gradmend failed", "unsure")
    if status != "done":
        return Badge("Working on it", "plain")
    first = found.patches[0] if found.patches else None
    fixed = first if first is not None and first.verification.status == "passed" else None
    match found.verdict:
        case "confirmed" if fixed:
            return _fixed("Reproduced and fixed", fixed)
        case "confirmed" if found.run is None or found.basis == "trace":
            return Badge("Seen in your run; fix not tested", "unsure")
        case "confirmed":
            tried = "passed" if found.patches else "known"
            return Badge(f"Reproduced; no fix {tried}", "unsure")
        case "likely" if fixed:
            words = "Shown with missing parts filled in; fix tested there"
            return Badge(_fixed(words, fixed).words, "unsure")
        case "likely" if found.basis == "completed":
            return Badge("Shown with missing parts filled in", "unsure")
        case "likely" if found.basis == "traceback" and _only_usual(found.causes[0]):
            return Badge("Usual cause: not run", "unsure")
        case "likely":
            return Badge("Probable: not run", "unsure")
        case "healthy":
            return Badge("Healthy", "good")
        case "unreproduced":
            return Badge("We could not reproduce it", "unsure")
    return Badge(_open(found), "unsure")


def is_prose(found: Findings) -> bool:
    """Return True if no line of what was sent is code: nothing of it can be wrong, or changed."""
    error = found.error
    return error is not None and error.exception == "SyntaxError" and error.location is None


def _only_usual(cause: Cause) -> bool:
    """Return True if only the message speaks for a cause."""
    return cause.confidence <= confidence(Certainty.USUAL, "error")


def _open(found: Findings) -> str:
    """Return why there is no answer, in a few words."""
    error = found.error
    if found.answer is not None and (error is None or is_prose(found)):
        return "Known question: its usual causes"
    if is_prose(found):
        return "Not a Python program"
    if error is not None and error.exception == "SyntaxError" and error.location is not None:
        return f"Syntax error in line {error.location.line}"
    if found.basis is None:
        return "The script could not be read"
    if found.basis == "reading" and found.run is None and found.error is None:
        return "No fault found by reading"
    if not found.causes and found.error is None and found.run and found.run.non_finite_loss:
        return f"The loss became {found.run.non_finite_loss.value}; no graph fault"
    if found.answer is not None:
        return "Known error: its likely cause"
    return _ended(found) or "We need one more thing"


_LACKING = ("arguments", "file", "package", "input")
"""Steps that name what a run lacked."""
_OTHER_ENDINGS = {
    "timed_out": "Stopped at the time limit",
    "limit_hit": "Stopped at a limit",
    "SystemExit": "Ended by the script itself",
    **dict.fromkeys(("NameError", "UnboundLocalError"), ""),  # of a part of a program
}


def _ended(found: Findings) -> str:
    """Return what ended a whole script's run before it showed a fault; empty if nothing did."""
    run, error = found.run, found.error
    if run is None or found.world or any(step.kind in _LACKING for step in found.next):
        return ""
    if run.status == "other_error" and error is not None:
        own = (run.exception or "").startswith(f"{error.exception}:")
        return _OTHER_ENDINGS.get(error.exception, "Ended by another error") if own else ""
    return _OTHER_ENDINGS.get(run.status, "")


def _fixed(words: str, patch: Patch) -> Badge:
    """Return the state of a fix, which also says what it changes."""
    changes = training(patch)
    return Badge(f"{words}; {changes}" if changes else words, _TONES[patch.level])


_TONES: dict[Level, Tone] = {"safe": "good", "unsafe": "unsure", "display_only": "unsure"}


def remedy(found: Findings) -> str:
    """Return what to do, if that is known and no patch has passed."""
    return found.answer.text if found.answer is not None else ""


def headline(diagnosis: Diagnosis) -> str:
    """Return the badge's text, whatever state the diagnosis is in."""
    return state(diagnosis, diagnosis.status).words


def tone(diagnosis: Diagnosis) -> Tone:
    """Return the badge's colour."""
    return state(diagnosis, diagnosis.status).tone


def calls(count: int) -> str:
    """Return a number of backward calls in words."""
    return counted(count, "backward call")


def sentences(summary: str) -> tuple[str, str]:
    """Return a summary's first sentence, and the rest."""
    first = re.match(r"(.+?[.!?])\s+(?=[A-Z`])(.*)", summary, re.DOTALL)
    return (first[1], first[2]) if first else (summary, "")


def short_title(found: Findings) -> str:
    """Return a result's name in a list, of at most 100 characters: its first sentence, or the
    title of its cause where that is too long.
    """
    said = sentences(found.summary or state(found).words)[0].replace("`", "")
    if len(said) > LONGEST_TITLE and found.causes:
        said = found.causes[0].title.replace("`", "")
    return shorten(said, LONGEST_TITLE, placeholder=" …")


def rank_of(cause: Cause, first: Cause) -> str:
    """Return how a cause that is not the first is introduced: it may be as certain as that."""
    alike = cause.confidence >= min(_LIKELY, first.confidence)
    return "fits as well" if alike else "less likely"


def certainty(cause: Cause) -> str:
    """Return how certain a cause is, in words with the figure."""
    words = {0.9: "almost certain", _LIKELY: "likely", 0.4: "possible"}
    word = next((words[low] for low in words if cause.confidence >= low), "a guess")
    return f"{word} ({cause.confidence:.0%}): {SOURCES[cause.source]}"


def versions(found: Findings) -> str:
    """Return which PyTorch and Python ran, in a line; '' for results of older versions."""
    ran = found.environment
    if ran is None:
        return ""
    if ran.torch is None:
        return f"Read with Python {ran.python}; nothing was run."
    packages = "".join(
        f", {name} {version}" for name, version in ran.packages.items() if name != "torch"
    )
    where = "here, on the CPU," if found.run is not None else "on your machine"
    return f"Ran {where} with torch {ran.torch}, Python {ran.python}{packages}, {ran.platform}."


def ran(run: RunReport) -> str:
    """Return a run in a few words."""
    if run.status == "unavailable":
        return "nothing was run"
    ended = {
        "reproduced": "your error was reproduced",
        "ran_clean": "no error as far as it was followed" if run.stopped else "no error",
        "other_error": "ended in another way",
        "timed_out": "stopped at its time limit",
        "limit_hit": "stopped at a limit",
    }[run.status]
    return f"{ended}, {calls(run.backward_calls)}" if run.backward_calls else ended


def open_steps(found: Findings) -> list[NextStep]:
    """Return the next steps, without those that the summary has named already."""
    said = found.summary.lower()
    return [step for step in found.next if step.value or step.text.lower() not in said]


def unchecked(diagnosis: Diagnosis) -> list[str]:
    """Return what a reader should not take for tested."""
    run = diagnosis.run
    notes = []
    if run is None and any(cause.source != "reading" for cause in diagnosis.causes):
        notes.append("Nothing was run here: the cause comes from the records of your own run.")
    elif run is None or run.status == "unavailable":
        notes.append("Nothing was run: this answer comes from reading the source.")
    else:
        notes.append("GPUs and several processes: the run was on one CPU.")
        notes += _followed(diagnosis, run)
        if run.stand_ins or diagnosis.world:
            notes.append(
                "Your own data and packages, where they were synthesized or replaced by stubs."
            )
    for patch in diagnosis.patches[:1]:
        if skipped := unchecked_fix(patch):
            notes.append(f"Of the first fix: {'; '.join(skipped)}.")
    notes += [f"Cut to fit: {item}." for item in diagnosis.truncated]
    return notes


def _followed(diagnosis: Diagnosis, run: RunReport) -> Iterator[str]:
    """Yield how much of the training was observed, with the fix if one was run."""
    for patch in diagnosis.patches[:1]:
        if patch.verification.status == "passed":
            seen = next((c.detail for c in patch.verification.checks if c.name == "runs"), "")
            yield f"A longer training: the run with the fix {seen}."
            yield "Whether the model trains well: only gradients and graphs were compared."
            return
    if run.backward_calls:
        followed = calls(run.backward_calls) + (" was" if run.backward_calls == 1 else " were")
        yield f"A longer training: {followed} followed."
        yield "Whether the model trains well: only its graphs were followed."
