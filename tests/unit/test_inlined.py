"""One-line helpers are read where they are called, and reported where they are defined."""

from __future__ import annotations

import ast

import pytest

from analyzers.evidence import MissingGraph
from analyzers.explain.inlined import inlined
from analyzers.explain.inlined_evidence import translated
from analyzers.explain.pattern import Match, patterns
from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from provenance import CodeLine, Referrer

HELPERS = """\
def scaled(x, rate):
    "So much of it."
    return rate * x

def both(*parts):
    return sum(parts)

def drawn():
    return noise(3)

def wide(
    net, x
): return net(
    x
)

"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("h = scaled(net(x), 0.5)", "h = 0.5 * net(x)"),
        ("h = scaled(x, 0.5).sum()", "h = (0.5 * x).sum()"),
        ("h = f(scaled(\n    x,\n    rate))", "h = f(rate * x)"),
        ("h = wide(net, x)", "h = net(x)"),
        ("def f(g):\n    y = wide(g, x)\n    return y", "def f(g):\n    y = g(x)\n    return y"),
    ],
)
def test_what_a_call_denotes_is_written_in_its_place(written: str, meant: str) -> None:
    text = HELPERS + written + "\n"
    view = inlined(Project({"train.py": text}))
    assert view is not None
    made = view.project.files["train.py"]
    assert ast.unparse(ast.parse(made).body[-1]) == meant
    assert len(made.splitlines()) == len(text.splitlines())
    assert view.restored("train.py", made) == (text, [])


@pytest.mark.parametrize(
    "written",
    [
        "y = 1; h = scaled(x, 0.5)",  # shares its line
        "h = scaled(x, rate=0.5)",
        "h = both(1, 2)",
        "h = scaled(x, 0.5) + scaled(y, 0.5)",  # more than one call
        "h = [drawn() for noise in xs]",  # another noise
        "def f(noise):\n    y = drawn()\n    return y",
        "h = list(map(drawn, xs))",
        "draw = lambda: drawn()",
        "scaled(x, 0.5)",  # nothing becomes of it
    ],
)
def test_other_calls_stay_calls(written: str) -> None:
    assert inlined(Project({"train.py": HELPERS + written + "\n"})) is None


def test_of_nested_calls_the_outer_one_is_written_out() -> None:
    text = HELPERS + "h = scaled(wide(net, x), 0.5)\n"
    view = inlined(Project({"train.py": text}))
    assert view is not None
    assert "0.5 * wide(net, x)" in view.project.files["train.py"]
    assert view.restored("train.py", view.project.files["train.py"]) == (text, [])


def test_a_moved_or_wrapped_statement_keeps_its_call_and_a_changed_one_does_not() -> None:
    view = inlined(Project({"train.py": HELPERS + "h = scaled(x, rate)\n"}))
    assert view is not None
    made = view.project.files["train.py"]
    wrapped = made.replace("rate * x\n", "(rate * x).detach()\n")
    assert view.restored("train.py", wrapped)[0].endswith("h = (rate * x).detach()\n")
    changed, gone = view.restored("train.py", made.replace("rate * x\n", "rate * x.detach()\n"))
    assert changed == HELPERS + "h = rate * x.detach()\n"
    assert [one.helper.name for one in gone] == ["scaled"]


def test_what_belongs_to_a_part_is_no_call_behind_which_it_stands() -> None:
    text = "def error(x, y):\n    return (x - y) * y\n\ne = error(p, q)\n"
    view = inlined(Project({"train.py": text}))
    assert view is not None
    made = view.project.files["train.py"].rstrip("\n") + ".detach()\n"
    assert view.restored("train.py", made)[0].endswith("e = (p - q) * q.detach()\n")


def test_evidence_of_a_helper_is_that_of_its_call() -> None:
    text = HELPERS + "def f(net, batch):\n    y = wide(net, batch)\n    return y\n"
    view = inlined(Project({"train.py": text}))
    assert view is not None
    outer, inner = CodeLine("train.py", 17, "f", 4, 8), CodeLine("train.py", 13, "wide", 5, 3)
    holders = (Referrer("x.grad", "wide", frame=5), Referrer("y", "f", frame=4))
    seen = MissingGraph("observed", at=inner, stack=(outer, inner), holders=holders, ended_at=inner)
    moved = translated(view, seen)
    assert isinstance(moved, MissingGraph)
    assert (moved.at, moved.stack, moved.ended_at) == (outer, (outer,), outer)
    assert moved.holders == (Referrer("batch.grad", "f", frame=4), Referrer("y", "f", frame=4))


@pytest.mark.parametrize(
    ("calling", "function"),
    [
        ("def f(ps):\n    ps = updated(ps)\n    return ps\n", "f.<locals>.<listcomp>"),
        ("ps = updated(ps)\n", "<listcomp>"),
    ],
)
def test_evidence_of_a_helpers_comprehension_is_that_of_its_callers(
    calling: str, function: str
) -> None:
    text = f"def updated(ps):\n    return [p - p.grad for p in ps]\n\n{calling}"
    view = inlined(Project({"train.py": text}))
    assert view is not None
    line = view.calls[0].call.lineno
    own = function.rpartition(".<locals>.")[0] or "<module>"
    outer, helper = CodeLine("train.py", line, own, 4), CodeLine("train.py", 2, "updated", 5)
    inner = CodeLine("train.py", 2, "updated.<locals>.<listcomp>", 6, 12)
    held = (Referrer("p", "updated.<locals>.<listcomp>", frame=6),)
    seen = MissingGraph("observed", at=inner, stack=(outer, helper, inner), holders=held)
    moved = translated(view, seen)
    assert isinstance(moved, MissingGraph)
    assert moved.at == CodeLine("train.py", line, function, 6)
    assert moved.stack == (outer, moved.at)
    assert moved.holders == (Referrer("p", function, frame=6),)


SCRIPT = """\
import torch
from torch import nn

def embedded(table):
    return table.weight / table.weight.norm(dim=1, keepdim=True)

def error(rows, users):
    return nn.functional.cross_entropy(torch.randn(2, 4) @ rows.T, users)

table = nn.Embedding(7, 4)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
rows = embedded(table)
for user in range(3):
    loss = error(rows, torch.tensor([1, 2]))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_the_call_is_what_a_repair_moves() -> None:
    project = Project({"train.py": SCRIPT})
    cause = classify(project, read(project).evidence)[0]
    assert cause.pattern == "derived-outside-loop"
    assert cause.candidates[0].files["train.py"] == SCRIPT.replace(
        "rows = embedded(table)\nfor user in range(3):\n",
        "for user in range(3):\n    rows = embedded(table)\n",
    )


def test_a_cause_that_both_texts_show_is_explained_once_in_the_scripts_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project, explained = Project({"train.py": SCRIPT}), list[str]()

    def explain(match: Match, seen: Project) -> str:
        explained.append(seen.files["train.py"])
        return ""

    monkeypatch.setattr(patterns()["derived-outside-loop"], "explain", explain, raising=False)
    found = [cause.pattern for cause in classify(project, read(project).evidence)]
    assert found.count("derived-outside-loop") == 1
    assert explained == [SCRIPT]
