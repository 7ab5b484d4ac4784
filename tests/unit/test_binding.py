"""A traceback binds the answer: its frames in any file, its family, and its order."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzers.advice import looks_for
from analyzers.explain.pattern import patterns
from analyzers.messages import catalogue, said_of
from analyzers.request.causes import RankedCause, classify
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.source.project import Project

FLAT = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
ARRAY = "RuntimeError: Can't call numpy() on Tensor that requires grad. Use detach().numpy()."
VECTOR = "RuntimeError: grad can be implicitly created only for scalar outputs"
FREED = "RuntimeError: Trying to backward through the graph a second time"
ENTRY = "from lib.fitting import fit\nfrom lib.data import load\n\nfit(load('x.csv'))\n"
FITTING = """\
import torch

def fit(data):
    net = make_net()
    for x, y in data:
        loss = rank_loss(net(x), y)
        loss.backward()
"""
HELPERS = """\
def never_called(xs):
    history = []
    for x in xs:
        history.append(net(x).numpy())
    plt.plot(history)
"""


def causes(examined: Examined) -> list[RankedCause]:
    project = Project(examined.files, examined.entry, recalled=examined.recalled)
    reading = examined.reading
    found = classify(project, (*reading.suspected, *reading.evidence))
    return found or list(examined.from_traceback)


def raised(path: str, line: int, code: str, message: str) -> str:
    return dedent(f"""\
        Traceback (most recent call last):
          File "{path}", line {line}, in fit
            {code}
        {message}
    """)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/home/kim/ranking/lib/fitting.py", 7),
        ("C:\\Users\\kim\\ranking\\lib\\fitting.py", 7),
        ("lib/fitting.py", 41),  # sent without its head
        ("/opt/venv/lib/python3.9/site-packages/lib/fitting.py", 7),  # installed, and sent
    ],
)
def test_frames_are_lines_of_the_files_that_were_sent(path: str, line: int) -> None:
    text = raised(path, line, "loss.backward()", VECTOR)
    examined = examine(ENTRY, "main.py", {"lib/fitting.py": FITTING}, text)
    first = causes(examined)[0]
    assert first.pattern == "non-scalar-backward"
    assert (first.location.file, first.location.line) == ("lib/fitting.py", 7)


def test_a_project_reports_no_less_than_its_traceback() -> None:
    text = raised("/srv/other/steps.py", 88, "loss.backward()", VECTOR)
    alone = causes(examine("", "main.py", {}, text))
    next_to = causes(examine(ENTRY, "main.py", {"lib/fitting.py": FITTING}, text))
    assert [c.pattern for c in next_to] == [c.pattern for c in alone] == ["non-scalar-backward"]
    assert next_to[0].location == alone[0].location
    assert "nothing in the sources shows it" in next_to[0].explanation


def test_evidence_of_another_family_does_not_win() -> None:
    script = (
        "total = 0\nfor x in xs:\n    total += net(x).sum()\n    total.backward()\n"
        "plt.plot(total.numpy())\n"
    )
    text = raised("plot.py", 5, "plt.plot(total.numpy())", ARRAY)
    found = causes(examine(script, "train.py", {}, text))
    assert {patterns()[cause.pattern].FAMILY for cause in found} == {"no-grad"}
    assert found[0].location.line == 5


def test_evidence_behind_the_failing_line_does_not_win() -> None:
    script = "shown = weigh(scores).numpy()\nother = model(x).sum()\nlater = other.numpy()\n"
    text = raised("train.py", 1, "shown = weigh(scores).numpy()", ARRAY)
    assert {cause.location.line for cause in causes(examine(script, "train.py", {}, text))} == {1}


def test_functions_that_the_entry_never_comes_to_are_not_suspected() -> None:
    files = {"lib/fitting.py": FITTING, "lib/helpers.py": HELPERS}
    assert causes(examine(ENTRY, "main.py", files, ARRAY)) == []
    reached = ENTRY + "from lib.helpers import never_called\nnever_called(data)\n"
    first = causes(examine(reached, "main.py", files, ARRAY))[0]
    assert first.location.file == "lib/helpers.py"


def test_a_message_belongs_to_the_only_walk() -> None:
    script = "for batch in loader:\n    loss = net(batch)\n    loss.backward()\n"
    first = causes(examine(script, "train.py", {}, VECTOR))[0]
    assert (first.pattern, first.location.line) == ("non-scalar-backward", 3)


def test_hints_come_in_the_order_of_the_traceback() -> None:
    script = (
        "def early(x):\n    with torch.no_grad():\n        return net(x)\n\n"
        "def late(x):\n    y = early(x)\n    best = y.argmax(1)\n    best.sum().backward()\n"
    )
    text = raised("run.py", 8, "best.sum().backward()", FLAT)
    hints = examine(script, "train.py", {}, text).hints
    assert [hint.place.line for hint in hints if hint.place] == [7, 2]


def test_every_message_has_causes_that_read_well_and_can_be_looked_for() -> None:
    for cause in (cause for entry in catalogue().values() for cause in entry.causes):
        assert cause.say("x").endswith(".")
        assert "{name}" not in cause.say("x")
        other = {"setting", "shapes", "frames", "said", "about", "message", "forward", "warned"}
        other |= {"result", "within"}
        look = cause.look or {}
        assert cause.look is None or looks_for(look) or other & look.keys()
        said_of("", [names.split() for names in (*look.get("said", ()), *look.get("about", ()))])


def test_a_healthy_line_is_no_hint() -> None:
    script = "x = torch.ones(3, requires_grad=True)\nopt.step()\n"
    assert [h for h in examine(script, "train.py", {}, FREED).hints if h.place] == []
