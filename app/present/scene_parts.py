"""The parts of a scene: lanes of nodes, the links between them, and the words of its legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["op", "loss", "freed", "origin", "change", "cut", "backward"]
LinkKind = Literal["edge", "freed", "held", "changes", "frees", "fails", "clean"]

MEANINGS: dict[str, str] = {
    "fails": "the backward where it goes wrong",
    "frees": "a backward; it frees its graph",
    "clean": "a backward without an error",
    "held": "what still points to it",
    "changes": "a change in place",
}
"""The legend: the meaning of each kind of link; an edge needs none."""


@dataclass(frozen=True, slots=True)
class SceneNode:
    """`text` says what happened, `code` quotes the line, `op` names the operation."""

    key: str
    text: str
    code: str = ""
    op: str = ""
    mark: Mark = "op"


@dataclass(frozen=True, slots=True)
class Lane:
    """What belongs together, mostly one iteration. `skipped` ones like it come before it."""

    title: str
    nodes: tuple[SceneNode, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """From one node to another, by their keys; `name` is written on it."""

    kind: LinkKind
    start: str
    end: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """`meanings`: the legend's words where they differ from the usual ones."""

    title: str
    description: str
    lanes: tuple[Lane, ...]
    links: tuple[Link, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
