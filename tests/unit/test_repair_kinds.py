"""How values of every kind are written without their graph."""

from __future__ import annotations

import pytest

from analyzers.repair.cut.rendering import Writing, carried
from provenance import ValueKind, ValuePart, ValueShape

T = ValueShape("tensor", "Tensor", graph=True)
PLAIN_T = ValueShape("tensor", "Tensor")
LEAF = ValueShape("tensor", "Parameter", leaf=True)
NONE = ValueShape("none", "NoneType")
INT = ValueShape("number", "int")
MODULE = ValueShape("module", "Linear")
EACH = "{key: t.detach() for key, t in s.items()}"
ITEM = "item.h = item.h.detach()"


def sequence(
    kind: ValueKind, *parts: ValueShape, name: str = "", maxlen: bool = False
) -> ValueShape:
    keyed = tuple(ValuePart(part, str(i)) for i, part in enumerate(parts))
    return ValueShape(kind, name or kind, size=len(parts), parts=keyed, maxlen=maxlen)


def fielded(kind: ValueKind, *, frozen: bool = False, **parts: ValueShape) -> ValueShape:
    keyed = tuple(ValuePart(part, repr(key)) for key, part in parts.items())
    return ValueShape(kind, "State", frozen=frozen, parts=keyed)


def mapping(name: str = "dict", **parts: ValueShape) -> ValueShape:
    keyed = tuple(ValuePart(part, repr(key)) for key, part in parts.items())
    return ValueShape("dict", name, size=len(parts), parts=keyed)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (T, "s.detach()"),
        (sequence("tuple", T, T), "tuple(t.detach() for t in s)"),
        (sequence("list", T, PLAIN_T), "[t.detach() for t in s]"),
        (sequence("list", T, NONE), "[t if t is None else t.detach() for t in s]"),
        (sequence("tuple", T, INT), "(s[0].detach(), s[1])"),
        (sequence("tuple", T, LEAF), "(s[0].detach(), s[1])"),
        (
            sequence("list", *([T] * 5), INT),
            "[t.detach() if isinstance(t, torch.Tensor) else t for t in s]",
        ),
        (
            sequence("list", sequence("tuple", T, T)),
            "[tuple(t.detach() for t in item) for item in s]",
        ),
        (sequence("deque", T, maxlen=True), "deque((t.detach() for t in s), maxlen=s.maxlen)"),
        (sequence("deque", T), "deque(t.detach() for t in s)"),
        (mapping(h=T, c=T), "{key: t.detach() for key, t in s.items()}"),
        (mapping(h=T, n=INT), '{**s, "h": s["h"].detach()}'),
        (fielded("namedtuple", h=T, n=INT), "s._replace(h=s.h.detach())"),
        (fielded("dataclass", h=T, n=INT, frozen=True), "replace(s, h=s.h.detach())"),
        (fielded("object", h=T), None),
        (sequence("list", T, name="Stack"), None),
    ],
)
def test_an_expression_keeps_what_has_no_graph(kind: ValueShape, text: str | None) -> None:
    assert Writing(quote='"', replace="replace").expression("s", kind) == text


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (mapping(h=T, n=INT), ["s['h'] = s['h'].detach()"]),
        (mapping(h=T, c=T, name="OrderedDict"), [f"s.update({EACH})"]),
        (fielded("dataclass", h=T, n=INT), ["s.h = s.h.detach()"]),
        (fielded("object", h=sequence("tuple", T, T)), ["s.h = tuple(t.detach() for t in s.h)"]),
        (sequence("list", fielded("object", h=T)), ["for item in s:", f"\t{ITEM}"]),
        (MODULE, None),
        (INT, None),
        (NONE, None),
    ],
)
def test_statements_change_in_place_what_can_be(kind: ValueShape, lines: list[str] | None) -> None:
    assert Writing().statements("s", kind) == lines


def test_a_name_of_a_scope_around_is_not_rebound() -> None:
    writing = Writing()
    assert writing.statements("s", T, rebind=False) is None
    assert writing.statements("s", sequence("list", T), rebind=False) == [
        "s[:] = [t.detach() for t in s]"
    ]
    assert writing.statements("s", mapping(h=T, c=T), rebind=False) == [
        "s.update({key: t.detach() for key, t in s.items()})"
    ]


def test_only_what_was_carried_is_cut() -> None:
    last = fielded("dataclass", rewards=sequence("list", T, T), hidden=sequence("tuple", T, T))
    kind = carried(last, [".hidden[0]"])
    assert Writing().statements("last", kind) == [
        "last.hidden = tuple(t.detach() for t in last.hidden)"
    ]
