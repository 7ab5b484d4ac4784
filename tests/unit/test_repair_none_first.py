"""A state that begins as None, however it is given that: cuts of it are guarded."""

from __future__ import annotations

import ast

import pytest

from analyzers.repair.cut.detaching import starts_as_none


@pytest.mark.parametrize(
    ("script", "none"),
    [
        ("h = None", True),
        ("net, h = Net(), None", True),
        ("h, c = None, None", True),
        ("h = c = None", True),
        ("(net, h), x = (Net(), None), 1", False),  # nested: not looked into
        ("h: object = None", True),
        ("net, h = None, Net()", False),
        ("net, h = build()", False),
    ],
)
def test_a_state_that_begins_as_none(script: str, none: bool) -> None:
    assert starts_as_none(ast.parse(script), "h") is none
