"""The picture of graph lifetimes: an SVG that needs no script and follows light and dark.

`app/static/graph.css` colours it. A page links that file; a picture that stands alone carries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from app.guide import guides
from app.scene import Lane, Scene, healthy_scene, scene_of
from app.schemas import Cause, Diagnosis

WIDTH = 680
TALL, LOW = 104, 80  # a lane with text below its chain, and one without
GAP = 36
LEGEND = 34
BUS = 160  # x of the carrier's line, which runs down from the origin
ENTRY = 236  # x of the node where a later graph takes the carrier in
LOSS = 604
STEPS = (328, 420, 512)  # x of the nodes between
TEXT = 12  # font size; the widths below are in characters of it


def graph_svg(diagnosis: Diagnosis, sources: Mapping[str, str] | None = None) -> str:
    """A whole SVG document for the diagnosis' first cause, or for a healthy script.

    `sources` (file → text) fills in lines that the diagnosis does not quote.
    """
    scene = diagnosis_scene(diagnosis, sources or {})
    return str(draw(scene or _nothing(diagnosis), style=_style()))


def diagnosis_scene(diagnosis: Diagnosis, sources: Mapping[str, str]) -> Scene | None:
    """What there is to draw of a diagnosis; None where a picture would be a guess."""
    if diagnosis.causes:
        cause = diagnosis.causes[0]
        return scene_of(cause, family_of(cause), sources)
    if diagnosis.verdict == "healthy" and diagnosis.run:
        return healthy_scene(diagnosis.run.backward_calls)
    return None


def family_of(cause: Cause) -> str:
    """The family of a cause's pattern; the largest one where the pattern is unknown."""
    known = guides().get(cause.pattern)
    return known.family if known else "graph-reuse"


def draw(scene: Scene, style: str = "") -> Markup:
    """The scene as an `<svg>` element; `style` is CSS to carry along."""
    tops = _tops(scene.lanes)
    height = tops[-1] + _height(scene.lanes[-1]) + LEGEND if tops else 60
    body = Markup("").join(
        [
            *(_lane(scene, lane, top) for lane, top in zip(scene.lanes, tops, strict=True)),
            _carrier(scene, tops),
            *(_walk(scene, i, tops) for i in range(len(tops))),
            _legend(scene, height - 12) if tops else _text(16, 34, scene.title),
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


def _tops(lanes: tuple[Lane, ...]) -> list[int]:
    tops, y = [], 8
    for lane in lanes:
        tops.append(y)
        y += _height(lane) + GAP
    return tops


def _height(lane: Lane) -> int:
    return TALL if lane.origin else LOW


def _text(x: int, y: int, text: str, kind: str = "", end: bool = False) -> Markup:
    anchor = Markup(' text-anchor="end"') if end else ""
    return Markup('<text x="{}" y="{}" class="{}"{}>{}</text>').format(x, y, kind, anchor, text)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _lane(scene: Scene, lane: Lane, top: int) -> Markup:
    parts = [
        Markup('<rect class="lane" x="4" y="{}" width="{}" height="{}" rx="10"/>').format(
            top, WIDTH - 8, _height(lane)
        ),
        _text(20, top + 26, lane.title, "name"),
    ]
    if lane.skipped:
        told = f"{lane.skipped} more in between"
        parts.append(_text(WIDTH - 20, top - GAP // 2 + 4, told, "aside", True))
    y = top + 56
    if lane.forward:
        parts.append(_chain(lane, y, bool(scene.carrier or lane.walk == "fails")))
    if lane.origin:
        label = lane.origin_text or "built on a line that is not known"
        parts.append(_text(BUS + 16, top + 88, _cut(label, 66), "code made-text"))
    if lane.walk in ("frees", "fails", "clean"):
        text = _cut(lane.walk_text, 58)
        parts.append(_text(WIDTH - 20, top + 26, text, f"code {lane.walk}-text", True))
    return Markup("").join(parts)


def _chain(lane: Lane, y: int, carried: bool) -> Markup:
    """The lane's own graph: edges, then nodes; dashed where a walk has freed it."""
    freed = " freed" if lane.walk == "frees" else ""
    start = BUS if lane.origin else ENTRY if carried else STEPS[0] - 96
    nodes = [x for x in (ENTRY, *STEPS, LOSS) if x >= start]
    edge = Markup('<path class="edge{}" d="M{} {}H{}"/>').format(freed, start, y, LOSS)
    dots = Markup("").join(
        Markup('<circle class="node{}" cx="{}" cy="{}" r="{}"/>').format(
            freed, x, y, 8 if x == LOSS else 6
        )
        for x in nodes
    )
    return edge + dots + _text(LOSS + 16, y + 4, "loss", "aside")


def _change(lane: Lane, y: int) -> Markup:
    return Markup(
        '<path class="backward changes" d="M{} {}h-22"/>'
        '<circle class="bolt" cx="{}" cy="{}" r="9"/>{}'
    ).format(
        BUS + 40, y, BUS, y, _text(BUS + 50, y + 4, _cut(lane.walk_text, 58), "code changes-text")
    )


def _carrier(scene: Scene, tops: list[int]) -> Markup:
    """The line by which later lanes hold the origin, with the carrier's name on it."""
    origin = next((i for i, lane in enumerate(scene.lanes) if lane.origin), None)
    if origin is None:
        return Markup("")
    top = tops[origin] + 56
    parts = [
        Markup('<path class="held" d="M{} {}V{}"/>').format(BUS, top, tops[i] + 40)
        for i, lane in enumerate(scene.lanes)
        if lane.walk == "changes"
    ]
    parts += [
        Markup('<path class="held" d="M{} {}V{}H{}"/>').format(BUS, top, tops[i] + 56, ENTRY - 12)
        + _tip("held", ENTRY - 7, tops[i] + 56, -1)
        for i, lane in enumerate(scene.lanes)
        if i > origin and lane.forward
    ]
    gone = " freed" if any(lane.walk == "frees" for lane in scene.lanes) else ""
    parts.append(Markup('<circle class="origin{}" cx="{}" cy="{}" r="9"/>').format(gone, BUS, top))
    if scene.carrier and len(tops) > origin + 1:
        parts.append(_pill(_cut(scene.carrier, 28), tops[origin] + TALL + GAP // 2))
    return Markup("").join(parts)


def _pill(name: str, y: int) -> Markup:
    width = int(len(name) * TEXT * 0.61) + 18
    return Markup('<rect class="pill" x="{}" y="{}" width="{}" height="22" rx="11"/>{}').format(
        BUS - 12, y - 11, width, _text(BUS - 3, y + 4, name, "code pill-text")
    )


def _walk(scene: Scene, index: int, tops: list[int]) -> Markup:
    """A backward: from its loss back along its own graph, and up into the origin's."""
    lane, y = scene.lanes[index], tops[index] + 56
    if lane.walk == "changes":
        return _change(lane, y - 16)
    if lane.walk == "none":
        return Markup("")
    origin = next((i for i, other in enumerate(scene.lanes) if other.origin), None)
    if origin is None or lane.origin:
        end = BUS if lane.origin else STEPS[0] - 96
        path = Markup('<path class="backward {}" d="M{} {}H{}"/>').format(
            lane.walk, LOSS, y - 15, end + 8
        )
        if lane.walk == "fails":
            return path + _cross(end, y)
        return path + _tip(lane.walk, end, y - 15)
    fails, end = lane.walk == "fails", tops[origin] + 56
    side, entry = (BUS - 28, end - 4) if fails else (BUS - 17, end + 8)
    path = Markup('<path class="backward {}" d="M{} {}H{}Q{} {} {} {}V{}Q{} {} {} {}"/>').format(
        lane.walk, LOSS, y - 15, side + 14, side, y - 15, side, y - 29, entry + 14,
        side, entry, BUS - (18 if fails else 8), entry,
    )  # fmt: skip
    return path + _cross(BUS, end) if fails else path


def _tip(kind: str, x: int, y: int, turn: int = 1) -> Markup:
    """An arrow's head at the end of a walk: to the left, or with `turn` -1 to the right."""
    return Markup('<path class="tip {}-tip" d="M{} {}l{} -5v10z"/>').format(kind, x, y, 9 * turn)


def _cross(x: int, y: int) -> Markup:
    return Markup('<path class="cross" d="M{} {}l14 14m0 -14l-14 14"/>').format(x - 7, y - 7)


def _legend(scene: Scene, y: int) -> Markup:
    walks = {lane.walk for lane in scene.lanes}
    held = "the value that was changed" if "changes" in walks else "what still points to it"
    keys = [
        (style, text)
        for style, text, shown in (
            ("backward fails", "the backward that fails", "fails" in walks),
            ("backward frees", "a backward; it frees its graph", "frees" in walks),
            ("backward clean", "a backward without an error", "clean" in walks),
            ("held", held, any(lane.origin for lane in scene.lanes)),
        )
        if shown
    ]
    x, parts = 20, []
    for kind, text in keys:
        parts.append(Markup('<path class="{}" d="M{} {}h26"/>').format(kind, x, y - 4))
        parts.append(_text(x + 34, y, text, "aside"))
        x += 34 + int(len(text) * 6.4) + 20
    return Markup("").join(parts)
