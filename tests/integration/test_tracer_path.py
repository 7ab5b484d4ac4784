"""The path of a carried value, followed in a second run."""

from __future__ import annotations

from provenance import Binding, ValueShape
from tests.tracing import Tracing

HOSTILE = """\
import torch

class State:
    def __init__(self):
        self.h = torch.zeros(3)
        self.calls = 0
    def __repr__(self):
        raise SystemExit("repr")
    def __eq__(self, other):
        raise SystemExit("eq")
    __hash__ = None
    @property
    def total(self):
        raise SystemExit("property")
    def __getattr__(self, name):
        raise SystemExit("getattr " + name)

class Noisy(dict):
    def items(self):
        raise SystemExit("items")
    def __getitem__(self, key):
        raise SystemExit("getitem")

w = torch.ones(3, requires_grad=True)
state, other = State(), Noisy(a=1)
for step in range(3):
    state.h = torch.tanh(w * state.h + step)
    loss = (state.h * w).sum()
    loss.backward()
"""


def followed(traced: Tracing, script: str) -> tuple[Binding, ...]:
    """The bindings of a script that walks a graph twice."""
    reuse = traced(script).trace.reuse
    assert reuse is not None
    follow = list(dict.fromkeys((edge.old.number, edge.output) for edge in reuse.stale_edges))
    trace = traced(script, follow=follow, freed=reuse.freed.n).trace
    assert trace.reuse is not None
    assert [j.old.number for j in trace.reuse.stale_edges] == [
        j.old.number for j in reuse.stale_edges
    ]
    assert trace.path is not None
    return trace.path.bindings


def test_hops_have_places_names_and_kinds(traced: Tracing) -> None:
    bindings = followed(
        traced,
        """\
        import dataclasses, torch
        @dataclasses.dataclass(frozen=True)
        class Memory:
            h: torch.Tensor
            count: int
        w = torch.ones(3, requires_grad=True)
        def advance(memory):
            h = torch.tanh(memory.h * w)
            return Memory(h, memory.count + 1)
        memory = Memory(torch.ones(3), 0)
        for _ in range(3):
            memory = advance(memory)
            memory.h.sum().backward()
        """,
    )
    reported = [
        (binding.how, binding.at.line, binding.at.function, binding.name, binding.paths[0])
        for binding in bindings
    ]
    assert reported == [
        ("bound", 8, "advance", "h", "h"),
        ("returned", 9, "advance", "", ".h"),
        ("bound", 12, "<module>", "memory", "memory.h"),
        ("outlived", 13, "<module>", "memory", "memory.h"),
        ("argument", 7, "advance", "memory", "memory.h"),
    ]
    kind = bindings[2].kind
    assert (kind.kind, kind.name, kind.frozen) == ("dataclass", "Memory", True)
    assert [(part.key, part.kind.kind) for part in kind.parts] == [
        ("'h'", "tensor"),
        ("'count'", "number"),
    ]


def test_nothing_of_the_script_s_is_called(traced: Tracing) -> None:
    bindings = followed(traced, HOSTILE)
    assert ("bound", "state.h") in {(binding.how, binding.name) for binding in bindings}


def test_a_name_that_was_none_is_reported(traced: Tracing) -> None:
    bindings = followed(
        traced,
        """\
        import torch
        cell = torch.nn.GRU(2, 3)
        hidden = None
        for _ in range(3):
            out, hidden = cell(torch.ones(1, 1, 2), hidden)
            out.sum().backward()
        """,
    )
    assert [binding.none_before for binding in bindings if binding.name == "hidden"] == [True, True]


def test_a_deep_and_wide_value_is_reported_within_bounds(traced: Tracing) -> None:
    bindings = followed(
        traced,
        """\
        import torch
        w = torch.ones(3, requires_grad=True)
        kept = [[{str(i): [torch.zeros(3)] * 40 for i in range(40)} for _ in range(40)]]
        kept.append(kept)
        h = torch.ones(3)
        for _ in range(3):
            h = torch.tanh(h * w)
            kept[0][0]["0"][0] = h
            h.sum().backward()
        """,
    )

    def nodes(kind: ValueShape) -> int:
        return 1 + sum(nodes(part.kind) for part in kind.parts)

    assert any(binding.name == "kept" for binding in bindings)
    assert sum(nodes(binding.kind) for binding in bindings) <= 3200


def test_a_script_that_sets_its_own_trace_ends_ours(traced: Tracing) -> None:
    script = """\
        import sys, torch
        w = torch.ones(3, requires_grad=True)
        h = torch.ones(3)
        sys.settrace(None)
        def step(h):
            return torch.tanh(h * w)
        for _ in range(3):
            h = step(h)
            h.sum().backward()
        """
    assert followed(traced, script) is not None
