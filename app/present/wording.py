"""What people read in place of the contract's short names: one vocabulary for page, terminal and
shared text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from app.schemas import (
    TARGETS_HELD,
    Cause,
    Check,
    Diagnosis,
    Effect,
    Findings,
    Level,
    Patch,
    RunReport,
)

SHORT = 140
"""Characters of a reason that is shown with a fix; the whole is among its figures."""

Tone = Literal["good", "unsure", "plain"]

GRADIENTS = {
    "same": "same gradients",
    "truncated": "truncated: each backward learns on its own",
    "changed": "changes the training: the gradients differ",
    "unknown": "gradients not compared",
}
TRAINING = {
    "same": "",
    "truncated": "truncates the gradients",
    "changed": "changes the training",
    "unknown": "effect on the training not compared",
}
LEVELS = {
    "safe": "safe",
    "unsafe": "unsafe: read it first",
    "display_only": "not for use as it is",
}
"""What a fix's level is called where people read it."""
CHECKS = {
    "reproduced": "Your error was reproduced",
    "runs": "The fixed script runs",
    "learns": "Every parameter still learns",
    "same_gradient": "The gradients match the original's",
    "schedule": "Backward calls and steps come as before",
    "covered": "Every loss is still trained on",
    "fresh": "Every backward uses the current weights",
    "bounded": "Memory does not grow from pass to pass",
    "minimal": "The change is small",
}
CHIPS = {
    "reproduced": "error reproduced",
    "runs": "error gone",
    "learns": "all parameters learn",
    "same_gradient": "gradients match",
    "schedule": "same steps",
    "covered": "every loss trained",
    "fresh": "current weights",
    "bounded": "no growth",
    "minimal": "small change",
}
FAILED = {
    "reproduced": "your error did not come up",
    "runs": "it still fails",
    "learns": "other parameters learn",
    "same_gradient": "gradients differ",
    "schedule": "other steps",
    "covered": "a loss is left out",
    "fresh": "old weights are used",
    "bounded": "memory grows",
    "minimal": "a large change",
}
"""What a check says that was failed, in place of its chip."""
STATES = {
    "passed": "passed",
    "failed": "failed",
    "differs": "differs",
    "not_run": "not tested",
}
RUNS = {
    "reproduced": "Your error was reproduced here.",
    "ran_clean": "The script ran here without an error.",
    "other_error": "The script stopped here with another error.",
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
}
RETAIN_GRAPH = (
    "It hides the message and keeps the fault: every pass then goes back through all passes "
    "before it, so time and memory grow with each one, and after `optimizer.step()` the old graph "
    "holds weights that have changed since, which fails next. It is right only where two backward "
    "calls really are meant to share one forward pass, before any step."
)


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
            return Badge("Reproduced; no fix passed", "unsure")
        case "likely" if fixed:
            words = "Shown with missing parts filled in; fix tested there"
            return Badge(_fixed(words, fixed).words, "unsure")
        case "likely" if found.basis == "completed":
            return Badge("Shown with missing parts filled in", "unsure")
        case "likely":
            return Badge("Probable: not run", "unsure")
        case "healthy":
            return Badge("Healthy", "good")
        case "unreproduced":
            return Badge("We could not reproduce it", "unsure")
    return Badge(_open(found), "unsure")


def _open(found: Findings) -> str:
    """Return why there is no answer, in a few words."""
    error = found.error
    if error is not None and error.exception == "SyntaxError":
        if error.location is None:
            return "Not a Python program"
        return f"Syntax error in line {error.location.line}"
    if found.basis == "reading" and found.run is None and found.error is None:
        return "No fault found by reading"
    if found.answer is not None:
        return "Known error: its likely cause"
    return "We need one more thing"


def _fixed(words: str, patch: Patch) -> Badge:
    """Return the state of a fix, which also says what it changes."""
    changes = training(patch)
    return Badge(f"{words}; {changes}" if changes else words, _TONES[patch.level])


_TONES: dict[Level, Tone] = {"safe": "good", "unsafe": "unsure", "display_only": "unsure"}


def remedy(found: Findings) -> str:
    """Return what to do, if that is known and no patch has passed."""
    return found.answer.text if found.answer is not None else ""


def training(patch: Patch) -> str:
    """Return what a passed fix changes in the training; '' if nothing."""
    if patch.effect is not None and TARGETS_HELD in patch.effect.text:
        return "its target is held constant"
    return TRAINING[patch.gradients]


def headline(diagnosis: Diagnosis) -> str:
    """Return the badge's text, whatever state the diagnosis is in."""
    return state(diagnosis, diagnosis.status).words


def tone(diagnosis: Diagnosis) -> Tone:
    """Return the badge's colour."""
    return state(diagnosis, diagnosis.status).tone


def calls(count: int) -> str:
    """Return a number of backward calls in words."""
    return f"{count} backward call" + ("" if count == 1 else "s")


def sentences(summary: str) -> tuple[str, str]:
    """Return a summary's first sentence, and the rest."""
    first = re.match(r"(.+?[.!?])\s+(?=[A-Z`])(.*)", summary, re.DOTALL)
    return (first[1], first[2]) if first else (summary, "")


def lowered(text: str) -> str:
    """Return a title as it continues after a colon: "NumPy" and "L-BFGS" keep their case."""
    stays = any(map(str.isupper, text.partition(" ")[0][1:]))
    return text if stays else text[:1].lower() + text[1:]


def certainty(cause: Cause) -> str:
    """Return how certain a cause is, in words with the figure."""
    words = {9: "almost certain", 7: "likely", 4: "possible"}
    word = next((words[low] for low in words if cause.confidence * 10 >= low), "a guess")
    return f"{word} ({cause.confidence:.0%}): {SOURCES[cause.source]}"


def proof(patch: Patch) -> str:
    """Return the text of a fix's badge."""
    words = {"passed": "tested", "failed": "failed a check", "not_run": "not tested"}
    return words[patch.verification.status]


def effect(patch: Patch) -> str:
    """Return what a fix does to the training, in a few words; for a failed one, why it failed."""
    if patch.verification.status == "failed":
        failed = [c for c in patch.verification.checks if c.status == "failed"]
        notes = [
            f"{FAILED[c.name]}: {c.detail}" if c.detail else FAILED[c.name] for c in failed[:1]
        ]
        return shorten("".join(notes), SHORT, placeholder=" …")
    targets = patch.effect is not None and TARGETS_HELD in patch.effect.text
    return "its target is a constant" if targets else GRADIENTS[patch.gradients]


def tab(patch: Patch) -> str:
    """Return a fix's mark and its effect, in two words."""
    if patch.verification.status == "failed":
        return "✗ failed"
    if patch.verification.status == "not_run":
        return "not tested"
    return {
        "same": "✓ same gradients",
        "truncated": "✓ truncated",
        "changed": "≠ changes training",
        "unknown": "✓ effect unknown",
    }[patch.gradients]


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
    where = "here, on the CPU" if found.run is not None else "on your machine"
    return f"Ran with torch {ran.torch}, Python {ran.python}{packages}, {ran.platform}, {where}."


def ran(run: RunReport) -> str:
    """Return a run in a few words."""
    if run.status == "unavailable":
        return "nothing was run"
    ended = {
        "reproduced": "your error was reproduced",
        "ran_clean": "no error",
        "other_error": "another error",
        "timed_out": "stopped at its time limit",
        "limit_hit": "stopped at a limit",
    }[run.status]
    return f"{ended}, {calls(run.backward_calls)}" if run.backward_calls else ended


def asked(patch: Patch) -> list[Check]:
    """Return the checks that apply to this fix.

    If no error was raised, there was none to reproduce; with equal gradients no loss is left out.
    """
    idle = {"reproduced", "covered"} if patch.gradients == "same" else {"reproduced"}
    return [c for c in patch.verification.checks if c.status != "not_run" or c.name not in idle]


def chip(check: Check, patch: Patch) -> str:
    """Return a check of a patch in a few words, by how it ended."""
    effect = patch.effect
    if check.status in ("failed", "differs"):
        counted = check.name == "same_gradient" and effect is not None
        return FAILED[check.name] + (f" ({_equal(effect)})" if counted and effect else "")
    if check.name == "same_gradient" and check.status == "passed" and effect is not None:
        cut = effect.against == "truncated" and TARGETS_HELD not in effect.text
        return CHIPS[check.name] + (" (up to the cut)" if cut else "")
    return CHIPS[check.name]


def _equal(effect: Effect) -> str:
    return f"{effect.steps_equal} of {effect.steps_compared} steps equal"


def unchecked(diagnosis: Diagnosis) -> list[str]:
    """Return what a reader should not take for tested."""
    run = diagnosis.run
    notes = []
    if run is None and any(cause.source != "reading" for cause in diagnosis.causes):
        notes.append("Nothing was run here: the cause comes from the records of your own run.")
    elif run is None or run.status == "unavailable":
        notes.append("Nothing was run: what stands here comes from reading the source.")
    else:
        notes.append("GPUs and several processes: the run was on one CPU.")
        notes += _followed(diagnosis, run)
        if run.stand_ins or diagnosis.world:
            notes.append("Your own data and packages, where something stood in for them.")
    for patch in diagnosis.patches[:1]:
        if skipped := unchecked_fix(patch):
            notes.append(f"Of the first fix: {'; '.join(skipped)}.")
    notes += [f"Cut to fit: {item}." for item in diagnosis.truncated]
    return notes


def unchecked_fix(patch: Patch) -> list[str]:
    """Return what was not tested of a fix."""
    return [
        f"whether {CHECKS[check.name][0].lower()}{CHECKS[check.name][1:]}"
        for check in asked(patch)
        if check.status == "not_run"
    ]


def _followed(diagnosis: Diagnosis, run: RunReport) -> Iterator[str]:
    """Yield how much of the training was observed, with the fix if one was run."""
    for patch in diagnosis.patches[:1]:
        if patch.verification.status == "passed":
            seen = next((c.detail for c in patch.verification.checks if c.name == "runs"), "")
            yield f"A longer training than was run with the fix: {seen}."
            yield "Whether the model trains well: only gradients and graphs were compared."
            return
    if run.backward_calls:
        followed = calls(run.backward_calls) + (" was" if run.backward_calls == 1 else " were")
        yield f"A longer training: {followed} followed."
        yield "Whether the model trains well: only its graphs were followed."
