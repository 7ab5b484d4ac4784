"""The picture of graph lifetimes: an SVG that needs no script and follows light and dark.

It is as narrow as a phone and read from top to bottom. `app/static/graph.css` colours it. A page
links that file; a picture that stands alone carries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise

from markupsafe import Markup

from app.present.scene import healthy_scene, scene_of
from app.present.scene_parts import MEANINGS, Link, LinkKind, Mark, Scene, SceneNode
from app.present.story import family_of
from app.schemas import Diagnosis

WIDTH = 376
CHAIN = 74  # x of the nodes
WORDS = 94  # x of the text next to them
HEAD, ROW, GAP = 26, 46, 30  # heights: of a lane's title, of a node, between lanes
KEY = 20  # of a line of the legend
WORDS_LONGEST, CODE_LONGEST = 36, 39
ARROWS: tuple[LinkKind, ...] = ("held", "changes", "frees", "fails", "clean")
RAILS: dict[LinkKind, int] = {"fails": 18, "held": 36, "changes": 52, "frees": 54, "clean": 54}
"""x of the vertical line of each kind of link, next to the nodes."""
ASIDE: dict[LinkKind, int] = {"fails": -7, "held": 0, "changes": 7, "frees": 7, "clean": 0}
"""How far above or below a node's middle a link meets it, so that none lies on another."""


def graph_svg(diagnosis: Diagnosis, sources: Mapping[str, str] | None = None) -> str:
    """Return a whole SVG document for the diagnosis' first cause, or for a healthy script.

    `sources` (file → text) supplies lines that the diagnosis does not quote.
    """
    scene = diagnosis_scene(diagnosis, sources or {})
    return str(draw(scene or _nothing(diagnosis), style=_style()))


def diagnosis_scene(diagnosis: Diagnosis, sources: Mapping[str, str]) -> Scene | None:
    """Return the scene of a diagnosis; None if a picture would be a guess."""
    if diagnosis.causes:
        cause = diagnosis.causes[0]
        return scene_of(cause, family_of(cause), sources)
    if diagnosis.verdict == "healthy" and diagnosis.run:
        return healthy_scene(diagnosis.run.backward_calls)
    return None


def draw(scene: Scene, style: str = "") -> Markup:
    """Return the scene as an `<svg>` element; `style` is CSS to include."""
    places, lanes, y = _places(scene)
    legend, height = _legend(scene, y)
    nodes = [node for lane in scene.lanes for node in lane.nodes]
    body = Markup("").join(
        [
            *lanes,
            *(_line(link, places) for link in scene.links if link.kind not in ARROWS),
            *(_node(node, places[node.key]) for node in nodes),
            *(_arrow(link, places) for link in scene.links if link.kind in ARROWS),
            legend if scene.lanes else _text(16, 34, scene.title),
        ]
    )
    sheet = Markup("<style>{}</style>").format(Markup(style)) if style else ""
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {} {}" role="img" '
        'aria-labelledby="graph-title graph-desc"><title id="graph-title">{}</title>'
        '<desc id="graph-desc">{}</desc>{}{}</svg>'
    ).format(WIDTH, height, scene.title, scene.description, sheet, body)


@cache
def _style() -> str:
    return (files("app") / "static" / "graph.css").read_text("utf-8")


def _nothing(diagnosis: Diagnosis) -> Scene:
    why = diagnosis.summary or "The diagnosis is not finished."
    return Scene("No picture: too little is known about the graphs.", why, ())


def _places(scene: Scene) -> tuple[dict[str, int], list[Markup], int]:
    """Return the y of every node by its key, the lanes drawn, and the y below them."""
    places: dict[str, int] = {}
    drawn, y = [], 4
    for before, lane in pairwise((None, *scene.lanes)):
        assert lane is not None
        y += GAP if before else 0
        height = HEAD + ROW * len(lane.nodes)
        drawn.append(
            Markup('<rect class="lane" x="4" y="{}" width="{}" height="{}" rx="10"/>').format(
                y, WIDTH - 8, height
            )
            + _text(WIDTH - 16, y + 19, lane.title, "name", end=True)
        )
        if lane.skipped:
            drawn.append(
                _text(WIDTH - 16, y - 11, f"{lane.skipped} more in between", "aside", True)
            )
        for at, node in enumerate(lane.nodes):
            places[node.key] = y + HEAD + ROW * at + 8
        y += height
    return places, drawn, y


def _text(x: int, y: int, text: str, kind: str = "", end: bool = False) -> Markup:
    anchor = Markup(' text-anchor="end"') if end else ""
    return Markup('<text x="{}" y="{}" class="{}"{}>{}</text>').format(x, y, kind, anchor, text)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _node(node: SceneNode, y: int) -> Markup:
    op = _cut(node.op, 18)
    parts = [
        _mark(node.mark, y),
        _text(WORDS, y + 4, _cut(node.text, WORDS_LONGEST), f"{node.mark}-text"),
        _text(WORDS, y + 21, _cut(node.code, CODE_LONGEST), "code"),
    ]
    fits = len(node.text) + len(op) < WORDS_LONGEST + 4
    if op and fits:
        parts.append(_text(WIDTH - 16, y + 4, op, "code aside", True))
    return Markup("").join(parts)


def _mark(mark: Mark, y: int) -> Markup:
    match mark:
        case "change":
            d = f"M{CHAIN} {y - 10}l10 10l-10 10l-10 -10z"
        case "cut":
            d = f"M{CHAIN - 9} {y - 4}h18M{CHAIN - 9} {y + 4}h18"
        case "backward":
            d = f"M{CHAIN - 8} {y - 8}h16v16h-16z"
        case _:
            size = 9 if mark in ("loss", "origin", "freed") else 6
            return Markup('<circle class="node {}" cx="{}" cy="{}" r="{}"/>').format(
                mark, CHAIN, y, size
            )
    return Markup('<path class="node {}" d="{}"/>').format(mark, d)


def _line(link: Link, places: Mapping[str, int]) -> Markup:
    """Return an edge of a graph, straight down; dashed if a backward call has freed it."""
    return Markup('<path class="edge {}" d="M{} {}V{}"/>').format(
        link.kind, CHAIN, places[link.start], places[link.end]
    )


def _arrow(link: Link, places: Mapping[str, int]) -> Markup:
    """Return an arrow from a node to its rail, along it, and into another; a cross if it fails."""
    start, end = places[link.start], places[link.end] + ASIDE[link.kind]
    rail, turn = RAILS[link.kind], 8 if end > start else -8
    left = CHAIN - 13
    drawn = Markup('<path class="arrow {}" d="M{} {}H{}Q{} {} {} {}V{}Q{} {} {} {}H{}"/>').format(
        link.kind, left, start, rail + 8, rail, start, rail, start + turn, end - turn,
        rail, end, rail + 8, end, left - 4,
    )  # fmt: skip
    drawn += Markup('<path class="tip {}-tip" d="M{} {}l-9 -5v10z"/>').format(
        link.kind, left + 2, end
    )
    if link.kind == "fails":
        drawn += _cross(CHAIN, places[link.end])
    return drawn + (_pill(link, start, end) if link.name else "")


def _cross(x: int, y: int) -> Markup:
    return Markup('<path class="cross" d="M{} {}l14 14m0 -14l-14 14"/>').format(x - 7, y - 7)


def _pill(link: Link, start: int, end: int) -> Markup:
    """Return the label of a link, in the gap above the lower lane."""
    name = _cut(link.name, 26)
    width, y = int(len(name) * 7.4) + 18, max(start, end) - HEAD - 8 - GAP // 2 + 7
    x = max(8, RAILS[link.kind] - 12)
    return Markup('<rect class="pill" x="{}" y="{}" width="{}" height="22" rx="11"/>{}').format(
        x, y - 15, width, _text(x + 9, y, name, "code pill-text")
    )


def _legend(scene: Scene, y: int) -> tuple[Markup, int]:
    """Return the meanings of the arrows, one below the other, and the picture's height."""
    kinds = dict.fromkeys(link.kind for link in scene.links if link.kind in MEANINGS)
    drawn = Markup("")
    for kind in kinds:
        y += KEY
        meaning = scene.meanings.get(kind, MEANINGS[kind])
        drawn += Markup('<path class="arrow {}" d="M16 {}h24"/>').format(kind, y)
        drawn += Markup('<path class="tip {}-tip" d="M48 {}l-9 -5v10z"/>').format(kind, y)
        drawn += _text(58, y + 4, meaning, "aside")
    return drawn, y + 12 if scene.lanes else 60
