"""The picture of graph lifetimes: true to the cause, well formed, silent where it would guess."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from app.present.picture import graph_svg
from app.present.scene import healthy_scene, scene_of
from app.present.scene_parts import Scene
from app.present.story import family_of, steps
from app.schemas import Cause, Diagnosis, Event, Location
from tests.unit.test_pages_parts import cause

SVG = "{http://www.w3.org/2000/svg}"


def diagnosis(*causes: Cause, verdict: str = "confirmed") -> Diagnosis:
    now = datetime.now(UTC)
    state = {"id": "x", "url": "/d/x", "created_at": now, "expires_at": now, "status": "done"}
    return Diagnosis.model_validate({**state, "verdict": verdict, "causes": causes})


def links(scene: Scene) -> dict[str, str]:
    """Where each arrow leads, by where it starts."""
    edges = ("edge", "freed")
    return {link.start: link.end for link in scene.links if link.kind not in edges}


def words(svg: str) -> str:
    root = ElementTree.fromstring(svg)
    return " ".join(element.text or "" for element in root.iter(f"{SVG}text"))


def test_the_graph_made_in_the_first_iteration_has_no_lane_of_its_own() -> None:
    scene = scene_of(cause(), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["iteration 1", "iteration 2"]
    assert links(scene) == {"freed": "made", "made": "again", "reached": "made"}


def test_the_graph_made_before_has_one() -> None:
    before = Event(file="train.py", line=10, code="w = f(p)")
    scene = scene_of(cause(created=before), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["made before", "iteration 1", "iteration 2"]


def test_two_backwards_of_one_pass_are_distinguished() -> None:
    again = Event(file="train.py", line=52, iteration=1, code="other.backward()")
    scene = scene_of(cause(created=None, reached_again_by=again), "graph-reuse", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes[-2:]] == ["1st backward", "2nd backward"]


def test_a_graph_that_retain_graph_kept_is_not_reported_as_freed() -> None:
    kept = Event(file="train.py", line=50, iteration=1, code="loss.backward(retain_graph=True)")
    found = cause(freed_by=kept)
    scene = scene_of(found, "graph-reuse", {})
    assert scene is not None
    reported = " ".join(
        [scene.title, scene.description, *(s.text for s in steps(found, "graph-reuse"))]
    )
    assert "keeps it" in reported
    assert "freed" not in reported


def test_an_optimizer_that_holds_others_is_no_cut() -> None:
    made = Event(file="train.py", line=6, code="opt = SGD(net.parameters())", op="optimizer")
    found = cause(created=made, freed_by=None, reached_again_by=None)
    scene = scene_of(found, "starved", {})
    assert scene is not None
    reported = " ".join(
        [scene.title, scene.description, *(s.text for s in steps(found, "starved"))]
    )
    assert "no optimizer holds it" in reported
    assert "lets no gradient through" not in reported


def test_passes_in_between_are_counted() -> None:
    late = Event(file="train.py", line=50, iteration=5, code="loss.backward()")
    assert "3 more in between" in words(graph_svg(diagnosis(cause(reached_again_by=late))))


def test_a_change_in_place_hits_what_the_forward_has_saved() -> None:
    scene = scene_of(cause(), "inplace", {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["forward", "meanwhile", "backward"]
    assert links(scene) == {"freed": "made", "reached": "made"}


@pytest.mark.parametrize(("op", "edges"), [("tensor", 1), ("nonleaf", 0)])
def test_a_missing_graph_is_drawn_as_cut_only_where_it_was_cut(op: str, edges: int) -> None:
    ended = Event(file="train.py", line=50, op=op, code="loss = f(x)")
    scene = scene_of(cause(created=None, freed_by=ended), "no-grad", {})
    assert scene is not None
    assert links(scene) == {"reached": "freed"}
    assert sum(link.kind == "edge" for link in scene.links) == edges


@pytest.mark.parametrize(("family", "what"), [("graphs", "3 graphs"), ("gradients", "3 gradients")])
def test_what_adds_up_is_drawn_by_iteration(family: str, what: str) -> None:
    scene = scene_of(cause(created=None, freed_by=None), family, {})
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["iteration 1", "iteration 2", "iteration 3"]
    assert what in scene.lanes[-1].nodes[0].text
    assert links(scene) == {"iteration 2": "iteration 1", "iteration 3": "iteration 2"}


def test_nodes_carry_op_line_and_the_number_of_the_story() -> None:
    made = Event(file="train.py", line=10, iteration=1, code="h = cell(h)", op="cell")
    reported = words(graph_svg(diagnosis(cause(created=made))))
    assert "① builds the graph" in reported
    assert "line 10  h = cell(h)" in reported
    assert " cell " in reported


def test_each_arrow_has_a_head_and_a_word_in_the_legend() -> None:
    root = ElementTree.fromstring(graph_svg(diagnosis(cause())))
    kinds = [element.get("class", "") for element in root.iter(f"{SVG}path")]
    arrows = sorted(kind.removeprefix("arrow ") for kind in kinds if kind.startswith("arrow"))
    tips = sorted(kind[4:].removesuffix("-tip") for kind in kinds if kind.startswith("tip"))
    assert arrows == tips == ["fails", "fails", "frees", "frees", "held", "held"]


def test_lines_without_text_are_quoted_from_the_source() -> None:
    bare = Event(file="train.py", line=2, iteration=1)
    svg = graph_svg(diagnosis(cause(freed_by=bare)), {"train.py": "a\n  total.backward()\n"})
    assert "total.backward()" in words(svg)


@pytest.mark.parametrize("name", ["<script>x</script>", "a&b", '"', "x" * 400])
def test_hostile_names_stay_text(name: str) -> None:
    event = Event(file="train.py", line=1, iteration=1, code=name)
    reported = cause(created=event)
    assert reported.carrier is not None
    reported.carrier.name = name
    root = ElementTree.fromstring(graph_svg(diagnosis(reported)))
    allowed = {"svg", "title", "desc", "style", "rect", "path", "circle", "text"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed


def test_a_clean_run_shows_one_picture_of_all_its_calls() -> None:
    scene = healthy_scene(48)
    assert scene is not None
    assert [lane.title for lane in scene.lanes] == ["each of 48 backward calls"]
    assert healthy_scene(0) is None


def test_nothing_is_drawn_where_the_walks_are_unknown() -> None:
    assert scene_of(cause(freed_by=None, created=None), "graph-reuse", {}) is None
    assert "No picture" in words(graph_svg(diagnosis(verdict="inconclusive")))


def test_parameters_behind_a_cut_are_drawn_with_the_cut() -> None:
    cut = Location(file="train.py", line=40, code="z = encode(x).detach()")
    untrained = cause(
        location=cut,
        parameters=["enc.weight", "enc.bias"],
        created=None,
        freed_by=None,
        reached_again_by=None,
    )
    scene = scene_of(untrained, "starved", {})
    assert scene is not None
    assert links(scene) == {"back": "cut"}
    assert "enc.weight and 1 more" in scene.lanes[0].nodes[0].text
    assert "z = encode(x).detach()" in scene.lanes[0].nodes[1].code


def test_a_step_changes_weights_and_the_name_is_on_what_still_needs_them() -> None:
    scene = scene_of(cause(), "stepped", {})
    assert scene is not None
    assert "A step changed them" in scene.description
    named = {link.kind for link in scene.links if link.name}
    assert named == {"fails"}
    assert scene_of(cause(freed_by=None), "stepped", {}) is None


def test_a_gradient_that_is_kept_is_drawn_with_the_backward_that_changes_it() -> None:
    scene = scene_of(cause(created=None, freed_by=None), "overwritten", {})
    assert scene is not None
    assert links(scene) == {"reached": "kept"}
    assert scene_of(cause(reached_again_by=None), "overwritten", {}) is None


def test_lines_of_several_files_are_distinguished() -> None:
    made = Event(file="models/net.py", line=13, iteration=1, code="h = cell(h)")
    reported = words(graph_svg(diagnosis(cause(created=made))))
    assert "net.py:13  h = cell(h)" in reported
    assert "train.py:50" in reported
    assert steps(cause(created=made), "graph-reuse")[0].text.startswith("Line 13 of models/net.py,")


def test_an_optimizer_that_never_steps_is_not_said_to_clear_nothing() -> None:
    found = cause(pattern="missing-step", created=None, freed_by=None)
    text = " ".join(event.text for event in steps(found, family_of(found)))
    assert "never steps" in text
    assert "clear" not in text
    assert scene_of(found, family_of(found), {}) is None
