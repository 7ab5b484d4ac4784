"""What callers give, and what functions below them call it: read from source and a stack alone."""

from __future__ import annotations

import ast

import pytest

from analyzers.explain.reuse.iteration_sources import taken_from
from analyzers.explain.reuse.passing import CallFrame, frames, handed_down, known_below
from analyzers.source.flow import part_for
from analyzers.source.project import Project, spelled
from provenance import BackwardCall, CodeLine

TRAINER = """\
class Gan:
    def judge(self, net, real, fake):
        loss = net(real) - net(fake)
        loss.backward()

    def step(self):
        self.judge(self.critic, self.real, self.fake)

def epoch(gan, graph, rate=0.1):
    gan.step()

def main():
    adjacency = make()
    gan = Gan()
    epoch(gan, graph=adjacency)

main()
"""
STACK = [("<module>", 17), ("main", 15), ("epoch", 10), ("Gan.step", 7), ("Gan.judge", 4)]


def stack(depth: int) -> list[CallFrame]:
    """The frames down to a depth, each an activation of its own."""
    places = tuple(
        CodeLine("train.py", line, name, number)
        for number, (name, line) in enumerate(STACK[:depth], 1)
    )
    return frames(Project({"train.py": TRAINER}), BackwardCall(places[-1], stack=places))


def test_a_parameter_is_traced_to_the_callers_name_for_it() -> None:
    found = [(f.place.function, spelled(v)) for f, v in handed_down(stack(3), "graph")]
    assert found == [("main", "adjacency")]


def test_what_nobody_hands_over_has_no_origin() -> None:
    assert not list(handed_down(stack(3), "rate"))
    assert not list(handed_down(stack(2), "adjacency"))


def test_an_objects_attribute_keeps_its_object_on_the_way_down() -> None:
    found = [(f.place.function, name) for f, name in known_below(stack(5)[1:], "gan.fake")]
    assert found == [("epoch", "gan.fake"), ("Gan.step", "self.fake"), ("Gan.judge", "fake")]


def test_a_name_that_is_not_handed_on_is_not_known_below() -> None:
    assert [f.place.function for f, _ in known_below(stack(5)[2:], "rate")] == []


@pytest.mark.parametrize(
    ("loop", "source"),
    [
        ("for row in rows: pass", "rows"),
        ("for row, y in zip(out.unbind(0), ys): pass", "out"),
        ("for i, row in enumerate(torch.split(out, 2)): pass", "out"),
        ("for key, row in {'a': out, 'b': out.T}.items(): pass", "out"),
        ("for row in (first, second): pass", None),
        ("for row in make(out): pass", None),
    ],
)
def test_a_loops_variable_is_traced_to_what_is_taken_apart(loop: str, source: str | None) -> None:
    tree = ast.parse(loop)
    statement = tree.body[0]
    assert isinstance(statement, ast.For)
    assert taken_from(statement, tree, "row") == source


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("old, state = state, new", "new"),
        ("best['loss'], state = value.item(), logits", "logits"),
        ("out, state = cell(x, state)", "cell(x, state)"),
        ("state = other = new", "new"),
    ],
)
def test_of_a_parallel_assignment_one_part_goes_to_a_name(statement: str, part: str) -> None:
    found = part_for(ast.parse(statement).body[0], lambda name: name == "state")
    assert found is not None
    assert spelled(found) == part
