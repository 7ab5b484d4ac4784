"""What a picture of graph lifetimes shows, before anyone draws it.

A scene is a column of lanes, read from top to bottom as things happened. A lane holds nodes: each
an operation with its line, or something that was done to a graph. Links run between nodes: the
graph's own edges, what still points to it, and backward calls. Each kind of fault has a scene of
its own, made of these parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from analyzers.explain.listed import counted
from app.present.event_words import NOT_CUT
from app.present.facts import CauseFacts
from app.present.scene_parts import Lane, Link, Scene, SceneNode
from app.present.story import holds_others, keeps_graph
from app.schemas import Cause, Event


def scene_of(cause: Cause, family: str, sources: Mapping[str, str]) -> Scene | None:
    """Return the scene of a cause; None if too little is known for a true picture."""
    make = {
        "inplace": _changed,
        "stepped": _stepped,
        "no-grad": _missing,
        "graphs": _accumulated,
        "gradients": _accumulated,
        "starved": _untrained,
        "overwritten": _overwritten,
    }.get(family, _reused)
    return make(CauseFacts(cause, family, sources))


def healthy_scene(calls: int) -> Scene | None:
    """Return the one picture of all backward calls of a run that ended clean; None without any."""
    if calls < 1:
        return None
    nodes = (SceneNode("in", "a graph of its own"), SceneNode("loss", "loss", mark="loss"))
    title = f"each of {calls} backward calls" if calls > 1 else "the backward call"
    followed = counted(calls, "backward call was", "backward calls were")
    text = f"{followed} followed; none met a graph that had been freed or changed."
    links = (Link("edge", "in", "loss"), Link("clean", "loss", "in"))
    return Scene("Every backward ran without an error", text, (Lane(title, nodes),), links)


def _reused(facts: CauseFacts) -> Scene | None:
    made, freed, reached = facts.made, facts.ended, facts.reached
    if freed is None or reached is None:
        return None
    first, second = _titles(facts.cause, freed, reached)
    kept = keeps_graph(facts.cause)
    origin = facts.node("made", "builds the graph", made, "origin" if kept else "freed")
    does = "keeps" if kept else "frees"
    frees = facts.node("freed", f"backward: {does} the graph", freed, "loss")
    fails = facts.node("reached", "backward: needs it again", reached, "loss")
    again = SceneNode("again", f"the same graph, through {facts.name or 'its value'}")
    links = [
        Link("frees", "freed", "made"),
        Link("held", "made", "again", facts.held),
        Link("edge", "again", "reached"),
        Link("fails", "reached", "made"),
    ]
    if _made_in_first_iteration(facts.cause, freed, reached):
        lanes = [Lane(first, (origin, frees))]
        links.append(Link("freed", "made", "freed"))
    else:
        apart = "forward" if freed.iteration == reached.iteration else "made before"
        taken = SceneNode("taken", f"takes in {facts.name or 'its value'}")
        lanes = [Lane(apart, (origin,)), Lane(first, (taken, frees))]
        links += [Link("held", "made", "taken"), Link("freed", "taken", "freed")]
    skipped = max(0, (reached.iteration or 0) - (freed.iteration or 0) - 1)
    lanes.append(Lane(second, (again, fails), skipped))
    through = f" through {facts.name}" if facts.name else ""
    where = facts.at(made) if made else "line unknown"
    when = {"forward": "in the forward pass", "made before": "before"}
    description = (
        f"The graph built {when.get(lanes[0].title, f'in {lanes[0].title}')} ({where}) is "
        f"{'kept' if kept else 'freed'} by the backward at {facts.at(freed)}. The backward at "
        f"{facts.at(reached)}{_iteration_of(second)} needs it again{through}, and fails."
    )
    if kept:
        description += " Its weights have changed since."
    meanings = {"frees": "a backward; it keeps its graph"} if kept else {}
    title = f"A {'kept' if kept else 'freed'} graph is needed again"
    return Scene(title, description, tuple(lanes), tuple(links), meanings)


def _iteration_of(title: str) -> str:
    """Return the iteration of a backward call if its line alone does not identify it."""
    return "" if title.endswith("backward") else f" in {title}"


def _changed(facts: CauseFacts) -> Scene | None:
    made, change, reached = facts.made, facts.ended, facts.reached
    if change is None or reached is None:
        return None
    value = facts.name or "the value"
    change_node = facts.node("freed", f"changes {value} in place", change, "change")
    if made is None:  # a leaf, or a view of one: the change itself is refused
        leaf = SceneNode("made", f"{value} may not be changed here", mark="origin")
        description = f"{value} is changed in place at {facts.at(change)}, which autograd refuses."
        refused = Link("fails", "freed", "made", facts.held)
        before_and_then = Lane("before", (leaf,)), Lane("then", (change_node,))
        meanings = {"fails": "the change, which is refused"}
        title = "A change in place that is refused"
        return Scene(title, description, before_and_then, (refused,), meanings)
    lanes = (
        Lane("forward", (facts.node("made", f"saves {value} for later", made, "origin"),)),
        Lane("meanwhile", (change_node,)),
        Lane("backward", (facts.node("reached", "needs the old value", reached, "backward"),)),
    )
    links = (Link("changes", "freed", "made", facts.held), Link("fails", "reached", "made"))
    description = (
        f"The forward pass saved {value} ({facts.at(made)}). It was changed in place at "
        f"{facts.at(change)}. The backward at {facts.at(reached)} needs the old value and "
        "fails."
    )
    return Scene("A saved value is changed before it is needed", description, lanes, links)


def _stepped(facts: CauseFacts) -> Scene | None:
    made, change, reached = facts.made, facts.ended, facts.reached
    if made is None or change is None or reached is None:
        return None
    lanes = (
        Lane("forward", (facts.node("made", "computes with the weights", made, "origin"),)),
        Lane("meanwhile", (facts.node("freed", "changes the weights", change, "change"),)),
        Lane("backward", (facts.node("reached", "needs the old weights", reached, "backward"),)),
    )
    links = (Link("changes", "freed", "made"), Link("fails", "reached", "made", facts.held))
    description = (
        f"The forward pass computed with the weights as they were ({facts.at(made)}). A step "
        f"changed them at {facts.at(change)}. The backward at {facts.at(reached)} needs the old "
        "ones and fails."
    )
    return Scene("Weights are changed before a backward needs them", description, lanes, links)


def _missing(facts: CauseFacts) -> Scene | None:
    ended, reached = facts.ended, facts.reached
    if ended is None or reached is None:
        return None
    uses = facts.node("reached", facts.note("reached"), reached, "backward")
    links = [Link("fails", "reached", "freed", facts.held)]
    if ended.op in NOT_CUT:
        forward = [facts.node("freed", facts.note("freed"), ended, "origin")]
    else:
        before = facts.node("made", "computed from parameters", facts.made, "op")
        forward = [before, facts.node("freed", facts.note("freed"), ended, "cut")]
        links.append(Link("edge", "made", "freed"))
    description = (
        f"{facts.name or 'The value'} comes from {facts.at(ended)}. "
        f"What is asked of it at {facts.at(reached)} cannot be done with it."
    )
    lanes = Lane("forward", tuple(forward)), Lane("then", (uses,))
    title, meanings = "A graph that is not there", {"fails": "what cannot be done with it"}
    return Scene(title, description, lanes, tuple(links), meanings)


def _accumulated(facts: CauseFacts) -> Scene | None:
    reached = facts.reached
    if reached is None:
        return None
    what = "graph" if facts.family == "graphs" else "gradient"
    iterations = [f"iteration {n}" for n in (1, 2, 3)]
    texts = (f"1 {what} by now", f"2 {what}s by now", f"3 {what}s by now")
    code, op = facts.quote(reached), reached.op or ""
    lanes = tuple(
        Lane(title, (SceneNode(title, f"{facts.number('reached')}{text}", code, op, "origin"),))
        for title, text in zip(iterations, texts, strict=True)
    )
    links = tuple(
        Link("held", later, earlier, facts.held if earlier == iterations[0] else "")
        for earlier, later in pairwise(iterations)
    )
    description = (
        f"{facts.name or 'It'} still holds the {what}s of earlier iterations: each iteration "
        f"through {facts.at(reached)} adds one."
    )
    title = f"The {what}s of all iterations add up"
    return Scene(title, description, lanes, links, {"held": f"still holds the {what}s before"})


def _untrained(facts: CauseFacts) -> Scene:
    """Return a scene of parameters that a cut keeps the gradient from; or of others in their
    place."""
    if holds_others(facts.cause):
        return _held_others(facts)
    names = facts.cause.parameters or ["some parameters"]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    cut = facts.cause.location
    through = f"{facts.number('carried') or facts.number('look')}lets no gradient through"
    lanes = (
        Lane("forward", (SceneNode("made", f"{names[0]}{more}", "get no gradient", mark="origin"),
                         SceneNode("cut", through, facts.quote(cut), mark="cut"))),
        Lane("backward", (SceneNode("back", "no backward comes past it", mark="backward"),)),
    )  # fmt: skip
    links = Link("edge", "made", "cut"), Link("fails", "back", "cut", facts.held)
    description = f"No gradient goes through {facts.at(cut)}, so {names[0]}{more} never learn."
    title, meanings = "Parameters that no gradient reaches", {"fails": "the gradient"}
    return Scene(title, description, lanes, links, meanings)


def _held_others(facts: CauseFacts) -> Scene:
    """Return a scene of the tensors that an optimizer holds, and of those that get the
    gradients."""
    names = facts.cause.parameters or ["some tensors"]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    learns = f"{facts.number('carried')}{facts.name or 'others'}: no optimizer holds it"
    lanes = (
        Lane("optimizer", (facts.node("made", f"holds {names[0]}{more}", facts.made, "origin"),)),
        Lane("backward", (SceneNode("learns", learns, mark="cut"),
                          SceneNode("back", "gives its gradients there", mark="loss"))),
    )  # fmt: skip
    links = Link("edge", "learns", "back"), Link("clean", "back", "learns")
    description = (
        f"The optimizer was made at {facts.at(facts.cause.location)}, and holds {names[0]}{more}. "
        "Other tensors get the gradients now, and no step changes these."
    )
    return Scene("An optimizer holds other tensors", description, lanes, links)


def _overwritten(facts: CauseFacts) -> Scene | None:
    """Return a scene of a stored gradient, and a later backward call that writes into it."""
    reached, kept = facts.reached, facts.cause.location
    if reached is None:
        return None
    name = facts.name or "a name"
    keeps = SceneNode("kept", f"{facts.number('carried')}{name} keeps the gradient",
                 facts.quote(kept), mark="origin")  # fmt: skip
    changes = facts.node("reached", "a later backward: adds into it", reached, "change")
    description = (
        f"{name} ({facts.at(kept)}) is the gradient itself. "
        f"The backward at {facts.at(reached)} adds into it, so what was kept changes."
    )
    lanes = Lane("kept", (keeps,)), Lane("in a later iteration", (changes,))
    title = "A kept gradient is changed by a later backward"
    return Scene(title, description, lanes, (Link("changes", "reached", "kept", facts.held),))


def _made_in_first_iteration(cause: Cause, freed: Event, reached: Event) -> bool:
    """Return True if the iteration that frees the graph is also the one that made it."""
    made = cause.created.iteration if cause.created else freed.iteration
    return freed.iteration is not None and made == freed.iteration != reached.iteration


def _titles(cause: Cause, freed: Event, reached: Event) -> tuple[str, str]:
    if freed.iteration and reached.iteration and freed.iteration != reached.iteration:
        unit = {"epoch": "epoch", "call": "call", "cell": "run"}.get(
            cause.boundary.kind if cause.boundary else "loop", "iteration"
        )
        return f"{unit} {freed.iteration}", f"{unit} {reached.iteration}"
    return "1st backward", "2nd backward"
