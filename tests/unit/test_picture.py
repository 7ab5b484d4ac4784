"""The picture of graph lifetimes: true to the cause, well formed, silent where it would guess."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from app.picture import graph_svg
from app.scene import healthy_scene, scene_of
from app.schemas import Cause, Diagnosis, Event
from tests.unit.test_pages_parts import cause

SVG = "{http://www.w3.org/2000/svg}"


def diagnosis(*causes: Cause, verdict: str = "confirmed") -> Diagnosis:
    now = datetime.now(UTC)
    state = {"id": "x", "url": "/d/x", "created_at": now, "expires_at": now, "status": "done"}
    return Diagnosis.model_validate({**state, "verdict": verdict, "causes": causes})


def words(svg: str) -> str:
    root = ElementTree.fromstring(svg)
    return " ".join(element.text or "" for element in root.iter(f"{SVG}text"))


def test_the_graph_made_in_the_first_pass_has_no_lane_of_its_own() -> None:
    scene = scene_of(cause(), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["iteration 1", "iteration 2"]
    assert [lane.walk for lane in scene.lanes] == ["frees", "fails"]


def test_the_graph_made_before_has_one() -> None:
    before = Event(file="train.py", line=10, code="w = f(p)")
    scene = scene_of(cause(created=before), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["made before", "iteration 1", "iteration 2"]


def test_two_backwards_of_one_pass_are_told_apart() -> None:
    again = Event(file="train.py", line=52, iteration=1, code="other.backward()")
    scene = scene_of(cause(created=None, reached_again_by=again), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes[-2:]] == ["1st backward", "2nd backward"]


def test_passes_in_between_are_counted() -> None:
    late = Event(file="train.py", line=50, iteration=5, code="loss.backward()")
    assert "3 more in between" in words(graph_svg(diagnosis(cause(reached_again_by=late))))


def test_an_inplace_change_is_one_graph_and_what_happened_meanwhile() -> None:
    scene = scene_of(cause(), "inplace", {})
    assert scene is not None
    assert [lane.walk for lane in scene.lanes] == ["fails", "changes"]


def test_lines_without_text_are_quoted_from_the_source() -> None:
    bare = Event(file="train.py", line=2, iteration=1)
    svg = graph_svg(diagnosis(cause(freed_by=bare)), {"train.py": "a\n  total.backward()\n"})
    assert "total.backward()" in words(svg)


@pytest.mark.parametrize("name", ["<script>x</script>", "a&b", '"', "x" * 400])
def test_hostile_names_stay_text(name: str) -> None:
    event = Event(file="train.py", line=1, iteration=1, code=name)
    told = cause(created=event)
    assert told.carrier is not None
    told.carrier.name = name
    root = ElementTree.fromstring(graph_svg(diagnosis(told)))
    allowed = {"svg", "title", "desc", "style", "rect", "path", "circle", "text"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed


def test_a_clean_run_shows_its_first_walks_and_its_last() -> None:
    scene = healthy_scene(48)
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["1st backward", "2nd backward", "backward 48"]
    assert [lane.skipped for lane in scene.lanes] == [0, 0, 45]
    assert healthy_scene(0) is None


def test_nothing_is_drawn_where_the_walks_are_unknown() -> None:
    assert scene_of(cause(freed_by=None, created=None), "graph-reuse", {}) is None
    assert "No picture" in words(graph_svg(diagnosis(verdict="inconclusive")))
