"""What the pages say in place of the contract's short names."""

from __future__ import annotations

import re

from app.schemas import Cause, Diagnosis, Patch

VERDICTS = {
    "confirmed": "Confirmed by a run",
    "likely": "Likely, from reading the source",
    "healthy": "Healthy",
    "unreproduced": "Ran clean here",
    "inconclusive": "No verdict",
}
GRADIENTS = {
    "same": "gradients stay the same",
    "truncated": "gradients end at the boundary",
    "changed": "gradients change",
    "unknown": "gradients not compared",
}
CHECKS = {
    "reproduced": "The original fails the same way",
    "runs": "The patched script runs",
    "learns": "Every parameter still learns",
    "same_gradient": "The gradients are the same",
    "fresh": "No step uses a stale graph",
    "bounded": "The graph does not grow",
    "minimal": "The change is small",
}
STATES = {"passed": "passed", "failed": "failed", "not_run": "not run"}
RUNS = {
    "reproduced": "The sandbox raised the same error.",
    "ran_clean": "The script ran clean in the sandbox.",
    "other_error": "The script stopped with another error in the sandbox.",
    "timed_out": "The script was stopped at its time limit.",
    "limit_hit": "The script was stopped at a limit of the sandbox.",
    "unavailable": "The script was not run.",
}
SOURCES = {
    "trace": "the run showed it",
    "reading": "the source suggests it; no run has shown it",
    "both": "the run showed it, and the source says the same",
}
BOUNDARIES = {
    "loop": "from one iteration to the next",
    "epoch": "from one epoch to the next",
    "call": "from one call to the next",
    "cell": "from one run of the cell to the next",
}


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in two or three words, whatever state the diagnosis is in."""
    if diagnosis.status == "failed":
        return "Gradmend failed"
    if diagnosis.status != "done":
        return "Working on it"
    return VERDICTS[diagnosis.verdict] if diagnosis.verdict else VERDICTS["inconclusive"]


def tone(diagnosis: Diagnosis) -> str:
    """`fault`, `good` or `unsure`: how a verdict is coloured."""
    if diagnosis.status == "done" and diagnosis.verdict in ("confirmed", "likely"):
        return "fault"
    return "good" if diagnosis.verdict == "healthy" else "unsure"


def calls(count: int) -> str:
    """So many backward calls, in words."""
    return f"{count} backward call" + ("" if count == 1 else "s")


def sentences(summary: str) -> tuple[str, str]:
    """A summary's first sentence, and whatever comes behind it."""
    first = re.match(r"(.+?[.!?])\s+(?=[A-Z`])(.*)", summary, re.DOTALL)
    return (first[1], first[2]) if first else (summary, "")


def certainty(cause: Cause) -> str:
    """How sure we are of a cause, in words with the figure."""
    words = {9: "almost certain", 7: "likely", 4: "possible"}
    word = next((words[low] for low in words if cause.confidence * 10 >= low), "a guess")
    return f"{word} ({cause.confidence:.0%}): {SOURCES[cause.source]}"


def proof(patch: Patch) -> str:
    """What a patch's badge says."""
    passed = {
        "passed": "run and checked",
        "failed": "failed a check",
        "not_run": "not run",
    }
    return passed[patch.verification.status]


def unchecked(diagnosis: Diagnosis) -> list[str]:
    """What a reader should not take for checked."""
    run = diagnosis.run
    told = []
    if run is None and any(cause.source != "reading" for cause in diagnosis.causes):
        told.append("Nothing was run here: the cause comes from the records of your own run.")
    elif run is None or run.status == "unavailable":
        told.append("Nothing was run: what stands here comes from reading the source.")
    else:
        told.append("The run was on a CPU; nothing was tried on a GPU or on several processes.")
        told.append(
            f"It was followed for {calls(run.backward_calls)}, not through a whole training."
        )
        if run.stand_ins:
            told.append("Stand-ins took the place of what the sandbox lacks (listed above).")
    for patch in diagnosis.patches[:1]:
        skipped = [
            CHECKS[check.name][0].lower() + CHECKS[check.name][1:]
            for check in patch.verification.checks
            if check.status == "not_run"
        ]
        if skipped:
            told.append(f"Of the first patch, not checked: {'; '.join(skipped)}.")
    told.append("Whether the model trains well: only gradients and graphs were compared.")
    told += [f"Cut to fit: {item}." for item in diagnosis.truncated]
    return told
