"""What is said of the things that were put in the place of what was not sent."""

from __future__ import annotations

from dataclasses import replace

from analyzers.evidence import Reading
from analyzers.paste.pasted import Pasted
from analyzers.source.project import Project
from analyzers.tracebacks import parse
from app.present.basis import assumptions, basis_of
from app.present.verdict import decide
from app.request.case import Case
from app.run.completion import wanted
from app.run.observation import Observation
from provenance import BackwardCall, CodeLine
from sandbox.protocol import RunResult
from sandbox.records import Assumed, Backward, RunEnd, Stub, Trace

CASE = Case(Project({"train.py": "pass\n"}, "train.py"), None, Reading(), 20.0)


def seen_with(*assumed: Assumed) -> Observation:
    substitute = Stub(t="stub", name="wandb", detail="calls do nothing")
    ended = RunEnd(t="end", reason="finished", backwards=3)
    trace = Trace(assumed=list(assumed), stubs=[substitute], ended=ended)
    return Observation(RunResult(status="finished", trace=trace), trace, ())


def test_substitutes_for_packages_leave_a_run_what_it_is() -> None:
    package = Assumed(t="assumed", kind="package", name="gym", text="A small one.")
    seen = seen_with(package)
    assert basis_of(CASE, seen) == "run"
    assert decide(CASE, seen, []) == "healthy"
    assert [(a.kind, a.name) for a in assumptions(CASE, seen)] == [
        ("package", "gym"),
        ("package", "wandb"),
    ]


def test_a_run_that_was_completed_is_never_called_healthy() -> None:
    name = Assumed(t="assumed", kind="name", name="netD", text="A small model.")
    seen = seen_with(name, name)
    assert basis_of(CASE, seen) == "completed"
    assert decide(CASE, seen, []) == "inconclusive"
    assert [a.name for a in assumptions(CASE, seen)] == ["netD", "wandb"]


def test_a_run_without_a_backward_call_is_never_called_healthy() -> None:
    ended = RunEnd(t="end", reason="finished", backwards=0)
    trace = Trace(ended=ended)
    seen = Observation(RunResult(status="finished", trace=trace), trace, ())
    assert decide(CASE, seen, []) == "inconclusive"


def test_a_run_that_outlasts_the_limit_is_healthy_after_many_calls() -> None:
    def after(calls: int) -> str:
        visit = BackwardCall(
            n=1, at=CodeLine(file="train.py", line=3), iteration=1, kind="backward"
        )
        one = Backward(t="backward", call=visit)
        trace = Trace(backwards=[one] * calls)
        return decide(CASE, Observation(RunResult(status="timed_out", trace=trace), trace, ()), [])

    assert after(40) == "healthy"
    assert after(4) == "inconclusive"


def test_what_only_another_file_needed_is_no_assumption_of_the_entry() -> None:
    case = replace(CASE, pasted={"part.py": Pasted("x = 1\n", ">>> x = 1\n")})
    assert [a.name for a in assumptions(case, seen_with())] == ["wandb"]


def test_a_quoted_statement_is_reported_whether_it_was_run_or_only_read() -> None:
    sent = "`net = f()` is mine\n\nnet()\n"
    case = replace(CASE, pasted={"train.py": Pasted("\nnet = f()\nnet()\n", sent)})
    for seen in (seen_with(), Observation(None, None, ())):
        assert "net" in [a.name for a in assumptions(case, seen)]


def test_an_error_of_a_function_that_was_not_sent_asks_for_no_engine() -> None:
    error = parse("GradcheckError: Jacobian mismatch for output 0 with respect to input 0,")
    checked = replace(CASE, traceback=error, project=Project({"a.py": "check(fold)\n"}, "a.py"))
    assert not wanted(checked).wanted.family
    own = "class Fold:\n    def backward(ctx, grad):\n        return grad\n"
    sent = replace(checked, project=Project({"a.py": own}, "a.py"))
    assert wanted(sent).wanted.family == "engine"
