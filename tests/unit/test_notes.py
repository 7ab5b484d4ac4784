"""What is said of inputs that do not belong together, and of results that have no program."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analyzers.certainty import Certainty, confidence
from analyzers.request.causes import classify
from analyzers.request.examine import examine
from analyzers.source.priors import names_several_losses
from app.present import local_run, wording
from app.present.basis import assumptions
from app.present.notes import notes
from app.request.case import Case
from app.run.observation import Observation
from app.schemas import Cause, ErrorReport, Findings, Location
from sandbox.records import Trace

SCRIPT = "import torch\n\nnet = torch.nn.Linear(2, 1)\nnet(torch.ones(2)).backward()\n"


def traceback_of(file: str, code: str) -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 4, in <module>\n    {code}\n'
        "RuntimeError: Trying to backward through the graph a second time\n"
    )


def case_of(script: str, traceback: str = "") -> Case:
    read = examine(script, "train.py", {}, traceback)
    return Case(
        read.project, read.traceback, read.reading, 10.0, notebook=read.notebook, pasted=read.pasted
    )


def test_a_trace_without_a_record_is_named() -> None:
    case = case_of(SCRIPT)
    assert not notes("inconclusive", case)
    (note,) = notes("inconclusive", replace(case, trace=Trace()))
    assert note.startswith("The trace is not one that `gradmend_trace.py` wrote")


FOREIGN = traceback_of("gan.py", "g_loss.backward()")
OWN = traceback_of("fit.py", "net(torch.ones(2)).backward()")


@pytest.mark.parametrize(
    ("traceback", "noted", "command"),
    [(FOREIGN, True, "train.py"), (OWN, False, "train.py"), ("", False, "train.py")],
)
def test_a_traceback_of_another_script_is_noted_and_names_no_command(
    traceback: str, noted: bool, command: str
) -> None:
    case = case_of(SCRIPT, traceback)
    found = notes("confirmed", case)
    assert [note.startswith("The traceback quotes no line") for note in found] == [True] * noted
    assert local_run.command(case) == f"gradmend run -- python {command}"


def test_two_lines_that_are_quoted_from_a_script_are_not_that_script() -> None:
    quoted = "I changed\n\n    losses.append(loss)\n"
    assert notes("likely", case_of(quoted, FOREIGN)) == []


def notebook(*counts: int | None) -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": n, "source": "x = 1", "outputs": []}
        for n in counts
    ]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


@pytest.mark.parametrize(
    ("counts", "noted"), [((1, 4), True), ((2, 1), True), ((1, 2), False), ((1, None), False)]
)
def test_execution_counts_of_another_order_are_noted_where_it_ran_clean(
    counts: tuple[int | None, ...], noted: bool
) -> None:
    case = case_of(notebook(*counts))
    assert [str(counts)[1:-1] in note for note in notes("healthy", case)] == [True] * noted
    assert notes("confirmed", case) == []


@pytest.mark.parametrize(
    ("code", "several"),
    [
        ("g_loss.backward()", True),
        ("self.critic_loss.backward()", True),
        ("lossG.backward()", True),
        ("loss_a.backward(); loss_b.backward()", True),
        ("loss.backward()", False),
        ("train_loss.backward()", False),
        ("loss = loss_fn(out, y)", False),
    ],
)
def test_names_of_several_losses_are_known(code: str, several: bool) -> None:
    assert names_several_losses(code) is several


@pytest.mark.parametrize(
    ("code", "first"), [("g_loss.backward()", "shared-subgraph"), ("loss.backward()", None)]
)
def test_several_losses_in_a_traceback_alone_put_the_shared_graph_first(
    code: str, first: str | None
) -> None:
    read = examine("", "train.py", {}, traceback_of("gan.py", code))
    named = [cause.pattern for cause in classify(read.project, read.reading.evidence)]
    assert named[:1] == ([first] if first else named[:1])
    assert ("shared-subgraph" in named) is (first is not None)


def cause_of(certainty: Certainty) -> Cause:
    return Cause(
        id="GM011",
        pattern="recurrent-state",
        title="A state keeps its graph",
        confidence=confidence(certainty, "error"),
        location=Location(file="train.py", line=4, code="loss.backward()"),
        explanation="",
        source="reading",
        learn_more="",
    )


def test_only_a_cause_of_a_lower_certainty_is_called_less_likely() -> None:
    cause = cause_of(Certainty.USUAL)
    sure, open_, guess = (
        cause.model_copy(update={"confidence": figure}) for figure in (0.95, 0.45, 0.15)
    )
    assert wording.rank_of(open_, sure) == "less likely"
    assert wording.rank_of(sure, sure) == "fits as well"
    assert wording.rank_of(guess, guess) == "fits as well"


def test_what_only_a_message_says_is_called_a_usual_cause() -> None:
    badges = [
        wording.state(
            Findings(verdict="likely", basis="traceback", causes=[cause_of(certainty)])
        ).words
        for certainty in (Certainty.USUAL, Certainty.CERTAIN)
    ]
    assert badges == ["Usual cause: not run", "Probable: not run"]


def test_a_result_has_a_short_title() -> None:
    long = Findings(summary="The usual cause: " + "a state that is kept " * 20)
    assert len(wording.short_title(long)) <= wording.LONGEST_TITLE
    with_cause = long.model_copy(update={"causes": [cause_of(Certainty.USUAL)]})
    assert wording.short_title(with_cause) == "A state keeps its graph"
    assert wording.short_title(Findings(summary="Detach `h`. Then `x`.")) == "Detach h."


def test_prose_is_no_program_and_a_syntax_error_has_a_line() -> None:
    prose = ErrorReport(family="other", exception="SyntaxError", message="")
    at = prose.model_copy(update={"location": Location(file="train.py", line=1, code="x =")})
    assert [wording.is_prose(Findings(error=error)) for error in (prose, at, None)] == [
        True,
        False,
        False,
    ]


def test_a_model_of_a_hub_was_not_forgotten_by_the_user() -> None:
    made = "a small model with random weights, and a tokenizer of bytes, was synthesized."
    lines = [
        {"t": "assumed", "kind": "file", "name": name, "text": f"`{name}` was not sent: {what}"}
        for name, what in (("bert-base", made), ("a.csv", "a table was synthesized."))
    ]
    trace = Trace.model_validate({"assumed": lines})
    found = assumptions(case_of(SCRIPT), Observation(None, trace, ()))
    assert [a.text.partition(": ")[0] for a in found] == [
        "`bert-base` is not available in the sandbox",
        "`a.csv` was not sent",
    ]
