"""The probe refuses what it should refuse, whichever way a bad repair hides.

It imports torch, which takes seconds: what uses it imports it, not whoever collects tests.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.rewritings import rewritten

Judge = Callable[..., list[str]]
REFERENCE = """
    import torch
    torch.manual_seed(0)
    encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for _ in range(6):
        x = torch.randn(5, 3)
        loss = head(encoder(x).tanh()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.fixture
def objections(tmp_path: Path) -> Judge:
    from tests.probe import compare, run

    def judged(candidate: str, reference: str = REFERENCE) -> list[str]:
        records = []
        for name, source in (("reference.py", reference), ("candidate.py", candidate)):
            path = tmp_path / name
            path.write_text(textwrap.dedent(source))
            records.append(run(path))
        return compare(*records)

    return judged


def test_the_same_mathematics_in_other_words_passes(objections: Judge) -> None:
    other = REFERENCE.replace("loss.backward()", "(0.25 * loss + 0.75 * loss).backward()")
    assert objections(other) == []


def test_parameters_may_grow_within_an_optimizer(objections: Judge) -> None:
    line = "        optimizer.step()\n"
    grown = REFERENCE.replace(
        line,
        line
        + """
        encoder, head = torch.nn.Linear(3, 6), torch.nn.Linear(6, 1)
        optimizer.param_groups[0]["params"] = [*encoder.parameters(), *head.parameters()]
""",
    )
    assert objections(grown, grown) == []
    assert any("shape" in note and "at step 2" in note for note in objections(REFERENCE, grown))


def test_a_script_that_raises_is_refused_with_its_error(objections: Judge) -> None:
    assert objections("raise KeyError('weights')") == ["raises KeyError: 'weights'"]


def test_a_parameter_without_gradient_is_refused(objections: Judge) -> None:
    untrained = REFERENCE.replace("head(encoder(x).tanh())", "head(encoder(x).tanh().detach())")
    assert any("gradient 0 differs at step 1" in note for note in objections(untrained))


def test_a_swallowed_error_is_refused(objections: Judge) -> None:
    hidden = REFERENCE.replace("loss.backward()", "loss.detach()")
    assert objections(hidden) != []


def test_fewer_steps_are_refused(objections: Judge) -> None:
    shorter = REFERENCE.replace("range(6)", "range(5)")
    assert any("5 steps instead of 6" in note for note in objections(shorter))


def test_a_growing_graph_is_refused_where_every_gradient_agrees(objections: Judge) -> None:
    growing = REFERENCE.replace("for _ in", "carried = 0\n    for _ in").replace(
        "loss.backward()",
        "carried = carried + 0 * x.sum() * head.bias.sum()\n"
        "        (loss + 0 * carried).backward(retain_graph=True)",
    )
    notes = objections(growing)
    assert len(notes) == 1
    assert "graphs grow" in notes[0]


def test_a_reference_that_trains_nothing_judges_nothing(objections: Judge) -> None:
    assert objections("x = 1", reference="x = 1") != []


def test_manual_updates_are_judged_by_where_they_end(objections: Judge) -> None:
    manual = """
        import torch
        w = torch.ones(3, requires_grad=True)
        for _ in range(2):
            (w ** 2).sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None
    """
    assert objections(manual, manual) == []
    assert objections(manual.replace("0.1", "0.2"), manual) == ["leaf [3] (1) ends elsewhere"]


ENGINE = """
    class Value:
        def __init__(self, data, *parents):
            self.data, self.grad, self.parents = data, 0.0, parents
        def __mul__(self, other):
            return Value(self.data * other.data, (self, other.data), (other, self.data))
        def backward(self, grad=1.0):
            self.grad += grad
            for parent, slope in self.parents:
                parent.backward(grad * slope)
    w = Value(2.0)
    for x in (1.0, 3.0):
        w.grad = 0.0
        (w * w * Value(x)).backward()
        w.data -= 0.1 * w.grad
"""


@pytest.mark.parametrize("way", ["control", "all of it in one function", "all of it in a class"])
def test_an_engine_is_judged_by_where_its_leaves_end_wherever_they_are(
    way: str, objections: Judge
) -> None:
    def written(text: str) -> str:
        return rewritten(textwrap.dedent(text), way) or ""

    reference = written(ENGINE)
    assert (
        objections(written(ENGINE.replace("w * w * Value(x)", "Value(x) * w * w")), reference) == []
    )
    untrained = written(ENGINE.replace("(w * w", "(w * Value(w.data)"))
    assert [note for note in objections(untrained, reference) if "w ends elsewhere" in note]
    assert objections(written(ENGINE.replace("w.grad = 0.0", "w = Value(w.data)")), reference) == []
    assert [note for note in objections(written("x = 1"), reference) if "w is gone" in note]


def test_values_of_a_function_are_asked_for_only_where_no_name_of_the_module_reports(
    objections: Judge,
) -> None:
    named = "w = None\n" + textwrap.dedent(ENGINE)
    inside = "def check():\n    probe = Value(5.0)\ncheck()\n"
    assert objections(named + inside.replace("5.0", "6.0"), named + inside) == []


def test_optimizers_are_distinguished_however_their_steps_are_ordered(objections: Judge) -> None:
    two = """
        import torch
        torch.manual_seed(0)
        a, b = torch.nn.Linear(2, 1), torch.nn.Linear(3, 1)
        first = torch.optim.SGD(a.parameters(), lr=0.1)
        second = torch.optim.SGD(b.parameters(), lr=0.1)
        (a(torch.randn(4, 2)) * b(torch.randn(4, 3))).sum().backward()
        first.step(); second.step()
    """
    swapped = two.replace("first.step(); second.step()", "second.step(); first.step()")
    assert objections(swapped, two) == []


def test_a_notebook_runs_by_its_counts(tmp_path: Path) -> None:
    def code(source: str, count: int) -> dict[str, object]:
        return {"cell_type": "code", "source": [source], "execution_count": count}

    from tests.probe import run

    cells = [
        code("raise ValueError(f'ran {runs} times')", 5),
        code("runs = 0", 1),
        code("runs += 1", 4),
    ]
    path = tmp_path / "counted.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert run(path).error == "ValueError: ran 3 times"


def test_a_record_alone_shows_what_is_wrong_with_it(tmp_path: Path) -> None:
    from tests.probe import faults, run

    def found(source: str) -> list[str]:
        path = tmp_path / "alone.py"
        path.write_text(textwrap.dedent(source))
        return faults(run(path))

    assert found(REFERENCE) == []
    assert found("raise KeyError('weights')") == ["raises KeyError: 'weights'"]
    assert found("import torch") == ["it trains nothing that could be compared"]
    idle = REFERENCE.replace("optimizer.step()", "optimizer.zero_grad(); optimizer.step()")
    assert any("no gradient at any step" in fault for fault in found(idle))
    total = (
        REFERENCE.replace("for _ in", "total = 0\n    for _ in")
        .replace("loss.backward()", "total = total + loss; total.backward(retain_graph=True)")
        .replace("optimizer.step()", "")
    )
    assert any("graphs grow" in fault for fault in found(total))


def test_what_adam_makes_of_rounding_is_no_difference() -> None:
    from tests.probe import Record, compare

    quiet, loud = np.array([1e-9, 0.5]), np.array([3e-9, 0.5])
    one = Record(gradients={"Adam": [[quiet]]}, parameters={"Adam": [[np.array([0.10, 1.0])]]})
    other = Record(gradients={"Adam": [[loud]]}, parameters={"Adam": [[np.array([0.12, 1.0])]]})
    assert compare(one, other) == []
    moved = Record(gradients={"Adam": [[loud]]}, parameters={"Adam": [[np.array([0.12, 1.2])]]})
    assert compare(one, moved) == ["Adam: parameter 0 differs at step 1 by 0.2"]
    none = np.array([0.0, 0.5])
    still = Record(gradients={"Adam": [[none]]}, parameters={"Adam": [[np.array([0.10, 1.0])]]})
    drift = Record(gradients={"Adam": [[none]]}, parameters={"Adam": [[np.array([0.12, 1.0])]]})
    assert compare(still, drift) == ["Adam: parameter 0 differs at step 1 by 0.02"]


def test_groups_that_join_later_are_compared(objections: Judge) -> None:
    joining = """
    import torch
    torch.manual_seed(0)
    encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for turn in range(6):
        if turn == 3:
            optimizer.add_param_group({"params": encoder.parameters()})
        x = torch.randn(5, 3)
        loss = head(encoder(x).tanh()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    assert objections(joining, joining) == []
    assert objections(joining.replace("turn == 3", "turn == 4"), joining) != []
    assert objections(joining.replace("turn == 3", "turn == 9"), joining) != []
