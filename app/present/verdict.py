"""The verdict on a diagnosis, and one sentence that a tired person understands."""

from __future__ import annotations

from analyzers.advice import Hint
from analyzers.evidence import GraphReuse, SilentFault
from analyzers.explain.kept_parameters import UNHELD, reason_to_stay
from analyzers.explain.listed import counted, lowered, some
from analyzers.messages import catalogue
from analyzers.tracebacks import TracebackPart
from analyzers.tracebacks.messages import classify
from app.present import answer, endings, inconclusive, non_finite
from app.present.basis import is_completed
from app.present.fix_wording import training
from app.request.case import Case
from app.run.observation import Observation, is_suspected
from app.run.outcome import caught_at, ending, is_given, len_backwards
from app.schema_types import MEANT_TO_DIFFER, Family, Verdict
from app.schemas import Cause, Patch
from sandbox.protocol import RunResult


def family_of(message: str, exception: str) -> Family:
    """Return the family of an error that a run raised."""
    return classify(TracebackPart(exception=exception, message=message))[0]


def reproduced(run: RunResult, seen: Observation, case: Case) -> bool:
    """Return True if the run raised the error in question: the traceback's, else a known one."""
    if run.raised is None:
        return False
    family = family_of(run.raised.message, run.raised.type)
    given = case.traceback
    if any(isinstance(p, GraphReuse) and p.engine == "custom" for p in seen.evidence):
        family = "engine"
    if is_given(case, run.raised):
        return seen.from_run or family != "other"
    if given is not None and given.exception and given.family != "other":
        return given.family == family or (seen.from_run and family != "other")
    return seen.from_run or family != "other"


def decide(case: Case, seen: Observation, causes: list[Cause]) -> Verdict:
    """Return the verdict that fits the observation."""
    run = seen.run
    if case.fault is not None and not causes:
        return "inconclusive"
    given = case.is_error_given
    if is_completed(case, seen):  # what was assumed may be what differs
        clean = seen.plan is not None and seen.ran_clean and case.reading.backward_lines
        return "likely" if causes else "unreproduced" if given and clean else "inconclusive"
    if run is not None and seen.ran_clean:
        if run.tampered:
            return "inconclusive"
        if causes and seen.from_run:
            return "confirmed"
        if inconclusive.without_gradient(seen) is not None:
            return "inconclusive"
        if not given and caught_at(run) is not None:
            return "inconclusive"
        if non_finite.is_answer(seen, case):
            return "inconclusive"
        if not given and (case.words_speak_of_error or case.words_doubt_results):
            return "inconclusive"
        return "unreproduced" if given else "healthy"
    if run is not None and run.tampered:  # what its records say is the script's own word
        return "likely" if causes else "inconclusive"
    if seen.followed and not given:
        return "inconclusive" if non_finite.is_answer(seen, case) else "healthy"
    if causes and seen.from_run and (run is None or reproduced(run, seen, case)):
        return "confirmed"
    return "likely" if causes else "inconclusive"


def summary(
    decided: Verdict, case: Case, seen: Observation, causes: list[Cause], patches: list[Patch]
) -> str:
    """Return what is wrong, where, and whether a patch was run. Lists show the first sentence.

    A syntax error takes precedence over everything but a question.
    """
    sentence = _summary(decided, case, seen, causes, patches)
    if case.fault is None:
        return sentence
    fault = (
        f"Syntax error in `{case.project.entry}`, line {case.fault.line}, column "
        f"{case.fault.column}: {case.fault.message}."
    )
    if case.asked is not None:
        return f"{sentence} {fault}"
    return f"{fault} With that line repaired or left out: {lowered(sentence)}" if causes else fault


def _summary(
    decided: Verdict, case: Case, seen: Observation, causes: list[Cause], patches: list[Patch]
) -> str:
    if decided == "healthy":
        return " ".join(filter(None, (_why_healthy(case, seen), _asked(case))))
    if decided == "unreproduced" and seen.plan is None:
        return _of_given(case, seen)
    if not causes:
        return inconclusive.why(case, seen)
    first = causes[0]
    what = f"`{first.carrier.name}`: " if first.carrier is not None else ""
    title = first.title
    sentence = f"{what}{lowered(title) if what else title}"
    file = f"{first.location.file}, " if len(case.project.modules) > 1 else ""
    sentence += f" ({first.location.cell or f'{file}line {first.location.line}'})."
    best = patches[0] if patches else None
    passed = best is not None and best.verification.status == "passed"
    if first.remedy and not passed:
        return f"{sentence} {first.remedy[:1].upper()}{first.remedy[1:]}"
    if seen.plan is not None and seen.from_run:
        return f"{sentence} {_in_world(seen, best)}"
    if best is not None and best.verification.status == "passed":
        return f"{sentence} A patch was run and checked: {_passed(best)}."
    from_error = case.reading.basis == "error" and not seen.from_run
    if case.project.recalled or from_error or not seen.evidence:
        return _from_error(sentence, case, causes)
    if seen.plan is not None:
        return f"{sentence} This comes from reading the source; {_WORLD_MISSED}."
    if decided == "likely" and is_suspected(case, seen):
        return f"{sentence} This would explain the error; the fragment alone does not show it."
    shown = seen.from_run and is_completed(case, seen) and not (seen.run and seen.run.tampered)
    if decided == "likely" and not (shown or seen.from_run):
        return f"{sentence} This comes from reading the source{_because(seen)}."
    if decided == "likely" and shown:
        sentence += (
            " The run here showed it, with what is missing synthesized (see what was assumed)."
        )
    if best is not None and best.verification.status == "not_run":
        return f"{sentence} A patch is proposed, but could not be run here."
    if best is None:
        return f"{sentence} No patch is known for it."
    return f"{sentence} No patch passed its checks."


def _from_error(sentence: str, case: Case, causes: list[Cause]) -> str:
    """Return what the error alone says: what was found for its message first, if anything was; of
    several causes that are as likely none.
    """
    hint, look = answer.first_hint(case), inconclusive.look(case)
    if hint is not None and hint.usual:
        look = answer.with_place(hint, case)  # the badge says that it is the usual cause
    if look and len(causes) > 1 and causes[0].confidence == causes[1].confidence:
        return f"{look} The error was raised at line {causes[0].location.line}."
    if hint is not None and not hint.usual:
        return f"{look} The error says: {lowered(sentence)}"
    nothing = "The error says so; nothing in the sources shows it."
    missing = "Only a traceback was sent; the script would tell."
    why = missing if case.project.recalled else nothing
    return " ".join(filter(None, (f"Perhaps: {sentence} {why}", look)))


_WORLD_MISSED = "what is missing was synthesized, and the error did not show in it"


def _in_world(seen: Observation, best: Patch | None) -> str:
    """Return how much a completed run shows."""
    raised = seen.run is not None and seen.run.raised is not None
    silent = any(isinstance(piece, SilentFault) for piece in seen.evidence)
    does = "raises this error" if raised and not silent else "shows this fault"
    sentence = f"What was sent is a part of a program. Completed (see what was assumed), it {does}"
    if best is not None and best.verification.status == "passed":
        return f"{sentence}; with a patch it runs: {_passed(best)}."
    return f"{sentence}."


def _passed(best: Patch) -> str:
    """Return a clause about a patch that passed, with what it changes."""
    changes = training(best)
    title = lowered(best.title)
    return f"{title} ({changes})" if changes else title


def _asked(case: Case) -> str:
    """Return what is known of what the words ask, if a line shows it or the question is known."""
    hint = answer.first_hint(case) if case.asked is not None else None
    if hint is None or case.asked is None:
        return ""
    if hint.place is None and (catalogue()[case.asked].general or not case.pasted):
        return ""
    return inconclusive.look(case)


def _of_given(case: Case, seen: Observation) -> str:
    """Return what is known of an error that was given and that a clean run did not show: the error
    is the question, the run only says what it does not come from.
    """
    script, source = "script", "in the traceback"
    if answer.is_named_only(case):
        source = "that the words name"
    if case.notebook is not None:
        script, source = "notebook", "that it holds or that was given"
    ran = (
        f"The {script} ran clean here ({_seen(seen)}), so the error {source} comes from "
        "something that differs: data, arguments, versions, hardware, or another file."
    )
    first = answer.first_hint(case)
    shown = first is not None and (first.kind == "version" or _is_around(first))
    looked = "" if shown else inconclusive.look(case)
    means = "" if answer.is_named_only(case) else answer.meaning(case)
    return " ".join(filter(None, (looked, means, f"{ran}{_of_hints(case)}")))


def _of_hints(case: Case) -> str:
    """Return what versions of torch have to do with the error, and what the words or settings that
    were sent with the script show, if that is known.
    """
    shown = (hint for hint in case.hints if hint.kind == "version" or _is_around(hint))
    return "".join(f" {answer.with_place(hint, case)}" for hint in shown)


def _is_around(hint: Hint) -> bool:
    """Return True if the words or settings around the code show the cause."""
    return hint.place is None and bool(hint.code) and not hint.usual


def _why_healthy(case: Case, seen: Observation) -> str:
    if seen.followed or (seen.run is not None and seen.run.status == "stopped"):
        assert seen.run is not None
        sentence = (
            "The script ran without an error as far as it was followed, and none of the known "
            f"faults was found: {endings.by_limit(seen.run, case)}{_stubbed(seen)}."
        )
        return " ".join(filter(None, (sentence, _no_derivative(seen))))
    sentence = (
        f"The script ran without an error ({_seen(seen)}), and none of the known faults was found."
    )
    return " ".join(
        filter(None, (sentence, _unused(seen), _unheld(seen, case), _no_derivative(seen)))
    )


def _no_derivative(seen: Observation) -> str:
    """Return a sentence on a Function whose backward is not the derivative of its forward."""
    compared = seen.trace.gradchecks if seen.trace is not None else []
    found = next((one for one in compared if one.outcome == "differs"), None)
    if found is None:
        return ""
    return (
        f"But what `{found.function}` (line {found.at.line}) returns for `{found.input}` is not "
        "the derivative of its forward (torch.autograd.gradcheck): a fault, unless it is meant so "
        f"({MEANT_TO_DIFFER})."
    )


def _unused(seen: Observation) -> str:
    """Return parameters that an optimizer holds and no observed code uses: that may be intended."""
    doubted = seen.run.doubted if seen.run is not None else []
    names = [name for d in doubted if d.kind == "unfed-parameters" for name in d.params]
    if not names:
        return ""
    return (
        f"No backward call reaches {some(names)}, which an optimizer holds, and nothing that ran "
        f"uses {'them' if len(names) > 1 else 'it'}: is that meant?"
    )


def _unheld(seen: Observation, case: Case) -> str:
    """Return parameters that get gradients and that no optimizer holds, and why this is no fault:
    without such a reason, reading takes it for one.
    """
    doubted = seen.run.doubted if seen.run is not None else []
    found = [d for d in doubted if d.kind == UNHELD and d.instead]
    names = [name for d in found for name in d.instead]
    if not names:
        return ""
    sentence = f"Backward calls give gradients to {some(names)}, which no optimizer holds"
    if reason := reason_to_stay(names, UNHELD, case.project, found[0].detail):
        return f"{sentence}. No fault, since {reason}; `requires_grad_(False)` would save the work."
    return f"{sentence}: if that is meant, `requires_grad_(False)` saves the work."


def _seen(seen: Observation) -> str:
    """Return how much of the training was observed, and which packages were stubs."""
    calls = len_backwards(seen.run) if seen.run is not None else 0
    return f"{counted(calls, 'backward call')}{_stubbed(seen)}"


def _stubbed(seen: Observation) -> str:
    stubs = seen.trace.stubs if seen.trace is not None else []
    names = [s.name for s in stubs if s.detail.startswith("not installed")]
    return f", with a stub for {', '.join(names[:4])}" if names else ""


def _because(seen: Observation) -> str:
    if seen.why_not:
        return f"; {seen.why_not}"
    if seen.run is None:
        return ""
    if seen.idle:
        return "; the run here called no backward"
    return f"; the run here ended early ({inconclusive.needs(seen) or ending(seen.run)})"
