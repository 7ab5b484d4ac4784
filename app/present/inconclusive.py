"""What is said when no cause was found: what the message means, why nothing was seen, and where to
look. An error that nobody asked about, met on the way, is no answer."""

from __future__ import annotations

import re

from analyzers.evidence import SilentFault
from analyzers.explain.listed import counted, lowered, some
from analyzers.explain.silent_matches import ZERO_LOSS, ZEROS
from analyzers.messages import entry_of
from analyzers.source.backward import backward_by_hand
from app.present import endings, non_finite
from app.present.answer import first_hint, meaning, named_cause, with_place
from app.present.basis import is_completed
from app.request.case import Case
from app.run.observation import Observation
from app.run.outcome import caught_at, ending, is_given, len_backwards
from sandbox.protocol import Raised, RunResult

_ENDED = ("finished", "stopped", "raised")
_ENDED_IN_IT = "The run here ended in that error, and nothing that it showed explains it."
_WITH_THE_SCRIPT = "With the script, the line can be named and a patch run."
_CUT_OFF = "The traceback ends before its last line, which says what was raised."
_PICTURED = "No text of an error was sent; what a picture shows is not read."
_UNNAMED = "The words speak of an error, and hold no message that is known."
_PICTURE = re.compile(r"!\[[^\]\n]{0,300}\]\(|<img\s")
_OF_FRAGMENTS = ("NameError", "UnboundLocalError")


def why(case: Case, seen: Observation) -> str:
    """Return what is known, and why it is not enough; the first sentence says the most."""
    said = [meaning(case), look(case), _why(case, seen), _not_python(case)]
    if (hint := first_hint(case)) is not None and not (hint.usual and named_cause(case) is None):
        shown = hint.place is not None or bool(hint.code)
        certain = named_cause(case) is not None or (shown and hint.place is None)
        first = with_place(hint, case) if certain else look(case)
        why_open = "" if certain and shown else _why(case, seen)
        said = [first, meaning(case), _not_python(case), why_open]
    return " ".join(sentence for sentence in said if sentence)


def without_gradient(seen: Observation) -> SilentFault | None:
    """Return the evidence that trained parameters surely never got a gradient, or None."""
    faults = (p for p in seen.evidence if isinstance(p, SilentFault) and not p.doubtful)
    return next((p for p in faults if p.kind == "unfed-parameters" and p.params), None)


def needs(seen: Observation) -> str:
    """Return what the run asked for and did not get: `needs data/x.csv: it is read here; …`."""
    wanted = seen.trace.needs if seen.trace is not None else []
    return "; ".join(
        f"needs {n.name}: {n.detail}" if n.detail else f"needs {n.name}" for n in wanted[:3]
    )


def look(case: Case) -> str:
    """Return the likeliest line of the error's cause; without one, its usual cause."""
    hint = first_hint(case)
    if hint is None:
        return ""
    if hint.usual:
        return f"The usual cause: {hint.text}"
    if hint.place is None:
        return with_place(hint, case)
    return f"The first place to look at: {lowered(with_place(hint, case))}"


def is_cut_off(case: Case) -> bool:
    """Return True if nothing is known of an error but frames: its last line was not sent."""
    given = case.traceback
    return given is not None and bool(given.frames) and not given.exception and not case.hints


def is_pictured(case: Case) -> bool:
    """Return True if what was sent shows a picture."""
    return _PICTURE.search(case.project.files.get(case.project.entry, "")) is not None


def _or_traceback(case: Case) -> str:
    return ", or the error's traceback" if case.traceback is None else ""


def _not_python(case: Case) -> str:
    """Return the line below which something is missing, or where the source stops being Python.

    If no error was given, a syntax error may be the fault itself.
    """
    pasted = case.pasted.get(case.project.entry)
    lost = pasted.first_without_body if pasted is not None else None
    if lost is not None and "`" not in lost[1]:
        return (
            f"Nothing stands below line {lost[0]} (`{lost[1][:80]}`): send what is missing there."
        )
    changed = pasted.first_changed if pasted is not None and case.traceback is None else None
    if changed is None or "`" in changed[1]:
        return ""
    return f"Line {changed[0]} is not Python as it stands: `{changed[1][:80]}`."


def _why(case: Case, seen: Observation) -> str:
    return _unread(case) or _unseen(case, seen)


def _unread(case: Case) -> str:
    """Return why there was nothing to run; '' if there was."""
    if case.no_program and case.asked is not None:
        return _WITH_THE_SCRIPT
    if case.no_program and is_pictured(case):
        return _PICTURED
    if case.no_program and case.speaks_of_error:
        return _UNNAMED
    if case.no_program:
        return f"`{case.project.entry}` is not a Python program: no line of it is code."
    if case.problem is not None:
        return f"The script could not be read: {case.problem}."
    if is_cut_off(case) and case.project.recalled:
        return _CUT_OFF
    if case.project.recalled or not any(text.strip() for text in case.project.files.values()):
        return _WITH_THE_SCRIPT
    return ""


def _of_no_gradient(fault: SilentFault) -> str:
    """Return what is known of trained parameters that got no gradient, or nothing but zeros."""
    names = some(fault.params) or "some parameters"
    if fault.detail == ZERO_LOSS:
        return (
            "The script ran clean, but every loss was zero, and so was every gradient of "
            f"{names}. Look at what the loss compares, and at a threshold or a margin in it."
        )
    if fault.detail == ZEROS:
        return (
            f"The script ran clean, but every gradient of {names} is zero, although not every loss "
            "is. Look on the way from there to the loss for steps whose derivative is zero "
            "(`round`, `clamp` beyond its bounds, units that are off) and for factors of zero."
        )
    return (
        f"The script ran clean, but no backward call gives a gradient to {names}, which an "
        "optimizer holds. Nothing in the source shows whether that is meant: look on the way "
        "from there to the loss for `.detach()`, `.data`, `no_grad` and values that are copied."
    )


def _unseen(case: Case, seen: Observation) -> str:
    """Return why a run did not show it."""
    if wanted := needs(seen):
        end = "the error" if case.is_error_given else "its end"
        return f"The script could not be run to {end}: it {wanted}."
    run = seen.run
    if seen.plan is not None and run is not None and run.status in _ENDED:
        return _why_no_error(case, run)
    if run is None:
        return f"Reading alone found no cause; {seen.why_not or 'it was not run'}."
    if run.tampered and seen.ran_clean:
        return (
            f"The script ran clean, but changed what it is observed through "
            f"({'; '.join(run.tampered[:3])}), so nothing is known of its graphs."
        )
    if seen.ran_clean and (fault := without_gradient(seen)) is not None:
        return _of_no_gradient(fault)
    if seen.ran_clean and (caught := caught_at(run)) is not None:
        return (
            f"The script ran to its end, but the backward call in line {caught.line} of "
            f"`{caught.file}` raised an error that the script catches: send its message, or take "
            "the `try` away."
        )
    if seen.ran_clean and not case.is_error_given and case.words_speak_of_error:
        return (
            "The script ran here without the error that the words speak of, so it comes of "
            "something that differs: data, arguments, versions or hardware. Send its message."
        )
    if seen.ran_clean and not case.is_error_given and case.words_doubt_results:
        return (
            "The script ran here without an error, and none of the known faults was found; whether "
            "its results are those that the words ask for, a run alone does not show."
        )
    if non_finite.is_answer(seen, case) and (lost := non_finite.sentences(seen, case)):
        return f"{lost} No fault of the autograd graph was found."
    if seen.idle and not case.reading.backward_lines:
        return (
            "The script ran to its end without a backward call, so nothing is known of its "
            f"graphs: send the part that trains{_or_traceback(case)}."
        )
    if seen.idle:
        return (
            "The script defines what calls backward, and calls none of it, so nothing could be "
            f"seen: send the part that calls it{_or_traceback(case)}."
        )
    match run.status:
        case "unavailable":
            return f"The script was not run: {run.reason or 'the sandbox is not available'}."
        case "timed_out":
            ended = endings.by_limit(run, case)
            return f"No error was seen: {ended}. Raise `time_limit_s`, or send a smaller run."
        case "limit_hit":
            before = " before the error showed" if case.is_error_given else ""
            return f"The run met a limit of the sandbox ({run.limit}){before}."
        case "finished" | "stopped" if run.raised is None:
            return _ran_synthesized(case, run)
    return _stopped_elsewhere(case, seen)


def _is_quoted(case: Case, raised: Raised | None) -> bool:
    """Return True if the words around the code contain the message that a run raised."""
    return raised is not None and bool(raised.message) and raised.message in case.words


def _stopped_elsewhere(case: Case, seen: Observation) -> str:
    """Return a sentence about a run that raised an error whose cause was not seen."""
    assert seen.run is not None
    raised = seen.run.raised
    if raised is not None and raised.type in _OF_FRAGMENTS:
        part = "What was sent is a part of a program"
        if case.is_error_given:
            return f"{part}, and nothing in it shows the cause for certain."
        return f"{part} ({raised.message}): send the error's message, or run it where it is whole."
    if is_given(case, raised) or _is_quoted(case, raised):
        return _ENDED_IN_IT
    if case.is_error_given:
        return f"The run here stops before that error ({ending(seen.run)})."
    if is_completed(case, seen):
        return (
            "The run stopped in what was synthesized because it was not sent (see what was "
            "assumed), so your script's own fault did not show."
        )
    return endings.by_itself(seen.run, case)


def _ran_synthesized(case: Case, run: RunResult) -> str:
    """Return a sentence about a whole script that ran with synthesized data or stub packages."""
    made = f"made {counted(len_backwards(run), 'backward call')} without an error"
    seen = f"did not raise the error: it {made}" if case.is_error_given else made
    return (
        f"With what is missing synthesized (see what was assumed), the script {seen}. Your own "
        "data, arguments and hardware may show more."
    )


def is_by_hand(case: Case, run: RunResult | None) -> bool:
    """Return True if a run ended without a backward call, and a layer of the script has its own."""
    ended = run is not None and run.status == "finished" and not len_backwards(run)
    return ended and not case.is_error_given and backward_by_hand(case.project) is not None


def _why_no_error(case: Case, run: RunResult) -> str:
    """Return what a completed run without a known error shows."""
    calls = len_backwards(run)
    if _is_quoted(case, run.raised):
        return _ENDED_IN_IT
    raised = entry_of(run.raised.message) if run.raised is not None else None
    no_graph = raised is not None and raised.kind in ("detached", "flat-input")  # of stand-ins
    if raised is not None and not (no_graph or case.is_error_given or case.asked is not None):
        return f"Completed (see what was assumed), it raises: {ending(run)}. {raised.means}"
    if run.status == "raised":
        return (
            "What was sent is a part of a program, and what it leaves out could not be synthesized "
            f"so that it runs ({ending(run)}): send the part that is missing."
        )
    if not calls and not case.is_error_given:
        if (own := backward_by_hand(case.project)) is not None:
            return (
                f"`{own[0]}` (line {own[1].lineno}) computes gradients by hand: there is no graph "
                "that a run could follow."
            )
        return (
            "No backward call was seen in what was sent, as it is or completed (see what was "
            "assumed): send the part that trains."
        )
    calls_text = (
        f"{counted(calls, 'backward call')} ran clean" if calls else "nothing in it calls backward"
    )
    if case.is_error_given:
        return (
            "This is only part of a program. We filled in the rest (listed below), and it did not "
            f"raise the error ({calls_text}): the cause is probably in the missing part."
        )
    return (
        f"This is only part of a program. We filled in the rest (listed below) and found no error "
        f"({calls_text}); a fault may be in the missing part."
    )
