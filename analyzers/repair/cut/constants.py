"""Recognise values that one of two losses only reads, with a certainty, and detach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.certainty import Certainty
from analyzers.explain.bootstrap_targets import BootstrapTarget, given_with
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.collected import collectors
from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.helper_targets import helper_targets
from analyzers.explain.reuse.policy_weights import weighs_log_probability
from analyzers.explain.reuse.read_only_uses import maker_called_inside, target_calls
from analyzers.explain.reuse.untouched_weights import steps_others
from analyzers.explain.source_locations import hops_at, resolve_location
from analyzers.repair.blocks import joined, wrapped
from analyzers.repair.cut.cutting import Cutting, kind_carried
from analyzers.repair.cut.detaching import TORCH, idiom_for
from analyzers.repair.leaf.leaves import no_grad_header, no_grad_on
from analyzers.repair.sites.uses import uses
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.calls import calls_of, steps
from analyzers.source.detached import WITHOUT_GRAPH
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import position, walk

_FOR_LOSS = "The target is a constant for the loss that compares with it."
_OF_WEIGHT = "The weight is a constant for the loss that weighs by it."
READS = 4  # statements of methods that are tried
_FOR_ALL = "No loss sends gradient through it any more."


def meant_as_constant(story: ReuseFeatures) -> Certainty | None:
    """Return how certain it is that one of the backward calls should only read the carrier; None if
    nothing shows it.
    """
    if story.shared is None or (story.steps_between and story.is_term):
        return None
    if story.same_iteration:
        sure = _is_compared(story) or weighs_log_probability(story) or _steps_between(story)
        return Certainty.LIKELY if sure else Certainty.POSSIBLE
    made_again = (story.reuse.remade and not story.cached) or maker_called_inside(story)
    if (made_again and not story.bound_inside) or steps_others(story):
        return Certainty.LIKELY
    if _is_compared(story) and not story.self_fed:
        return Certainty.POSSIBLE if _kept_for_later(story) else Certainty.LIKELY
    return Certainty.LIKELY if story.same_consumer and not story.bound_inside else None


def _is_compared(story: ReuseFeatures) -> bool:
    """Return True if a loss uses the carrier as its target."""
    return bool(target_calls(story) or helper_targets(story))


def slice_is_stale(story: ReuseFeatures) -> bool:
    """Return True if the loop runs the carrier's network again, or updates by hand other weights
    than the carrier's: then a slice of the carrier is an old value next to a new one, and not one
    of several samples.
    """
    others = bool(story.steps_by_hand) and steps_others(story)
    return story.reuse.remade or maker_called_inside(story) or others


def _kept_for_later(story: ReuseFeatures) -> bool:
    """Return True if the loop binds the carrier after the backward call: for the next iteration."""
    inside = set(walk(story.loop)) if story.loop is not None else set()
    bound = [s for _, scope, s in story.binders if scope is story.frame.scope and s in inside]
    return bool(bound) and all(position(s) > story.frame.freed_at for s in bound)


def _steps_between(story: ReuseFeatures) -> bool:
    """Return True if an optimizer steps after the first backward call and before the second loss is
    computed.
    """
    if story.steps_between:
        return True
    where = resolve_location(story.project, story.reuse.freed.at)
    if where is None or where.place.line == story.frame.freed_line:
        return False
    return any(position(call) > position(where.statement) for call in steps(where.scope))


def constant(target: BootstrapTarget) -> Iterator[Proposal]:
    """Yield proposals that detach a loss's target or weight where it is computed, else where it is
    passed.
    """
    editor, note = target.where.editor, _OF_WEIGHT if target.weighs else _FOR_LOSS
    if target.made is not None:
        pairs = assigned_pairs(target.made)
        value = next((v for one, v in pairs if spelled(one) == target.name), None)
        if value is not None:
            title = f"Detach `{target.name}` where it is made"
            cut = joined(TORCH.at(editor, part) for part in _parts(value))
            yield Proposal("detach-target", title, cut, note, 0)
        elif (edit := _made_apart(target)) is not None:
            title = f"Make `{target.name}` without a graph"
            yield Proposal("no-grad-at-definition", title, (edit,), note, 0)
    edit = TORCH.at(editor, target.given)
    title = f"Give the loss a detached `{editor.text_of(target.given)}`"
    yield Proposal("detach-target", title, (edit,), note, 1)
    if also := [one for one in given_with(target) if one is not target.given]:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(map(spelled, also)))
        edits = (edit, *(TORCH.at(editor, one) for one in also))
        yield Proposal("detach-target", f"{title}, and {names} too", joined(edits), note, 1)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the entries of a literal collection; else the value itself."""
    match value:
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _parts(part)
        case _:
            yield value


def _made_apart(target: BootstrapTarget) -> Edit | None:
    """Return an edit that puts a call with several results under `no_grad`, if no backward call
    uses its other results.
    """
    made, scope = target.made, target.where.scope
    if made is None or not isinstance(made.value, ast.Call):
        return None
    roots = map(backward_root, calls_of(scope, *BACKWARD_CALLS))
    fed = {name for root in roots if root is not None for name in made_of(scope, root)}
    if fed & (set(bindings(made)) - {target.name}):
        return None
    return wrapped(target.where.editor, [made], no_grad_header(target.where.module))


def detach_at_use(story: ReuseFeatures, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that detach the carrier where the first loss reads it, or where the second
    does.
    """
    if story.shared is None or not story.name:
        return
    yield from _in_target_calls(story, rank)
    yield from _in_helpers(story, rank)
    backwards = (("first", story.reuse.freed), ("second", story.reuse.reached))
    alike = _is_target_of_both(story) * SECOND_CHOICE  # then the other would still move it
    for later, (title, backward_call) in enumerate(backwards):
        for name, edits in uses(story, backward_call):
            note = "That loss no longer sends gradient through it."
            given = f"Give the {title} loss a detached `{name}`"
            yield Proposal(f"detach-in-{title}-loss", given, edits, note, rank + later + alike)
    yield from _where_methods_read(story, rank + 1)


def _is_target_of_both(story: ReuseFeatures) -> bool:
    """Return True if the same function compares with the carrier for both backward calls."""
    freed, reached = story.reuse.freed.at, story.reuse.reached.at
    comparing = {(t.module.path, t.function.name) for t in helper_targets(story)}
    return (freed.file, freed.function) in comparing & {(reached.file, reached.function)}


def _where_methods_read(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield proposals that detach what methods read of the object that holds it, one statement
    each, for methods that compute the losses.
    """
    found: dict[tuple[Module, ast.stmt], list[ast.Attribute]] = {}
    kinds = {kind for m, s, _ in story.binders if (kind := m.class_of(s)) is not None}
    for module, node in story.project.each(ast.Attribute) if story.attribute else ():
        hands_on = getattr(module.parents.get(node), "attr", None) not in WITHOUT_GRAPH
        if spelled(node) == f"self.{story.attribute}" and isinstance(node.ctx, ast.Load):
            if hands_on and module.class_of(node) in kinds:
                found.setdefault((module, _statement(module, node)), []).append(node)
    for (module, statement), nodes in [*found.items()][:READS] if len(found) > 1 else ():
        editor = Editor(module)
        edits = tuple(editor.append_to(node, ".detach()") for node in nodes)
        title = f"Detach `{spelled(nodes[0])}` where line {statement.lineno} reads it"
        note = "That loss no longer sends gradient through it."
        yield Proposal("detach-in-first-loss", title, edits, note, rank)
        rank += 1


def _statement(module: Module, node: ast.AST) -> ast.stmt:
    return next(a for a in (node, *module.ancestors(node)) if isinstance(a, ast.stmt))


def _in_target_calls(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that detaches the target that a loss function receives."""
    if targets := [call.args[1] for call in target_calls(story)]:
        editor = Editor(story.frame.module)
        edits = tuple(editor.append_to(target, ".detach()") for target in targets)
        title = f"Give the loss a detached `{editor.text_of(targets[0])}`"
        yield Proposal("detach-target", title, edits, _FOR_LOSS, rank)


def _in_helpers(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield proposals that detach the target in the functions that compare with it, whatever calls
    them.
    """
    for target in helper_targets(story):
        editor = Editor(target.module)
        read = names_loaded(walk(target.function), target.parameter)
        edits = tuple(editor.append_to(node, ".detach()") for node in read)
        title = f"Detach `{target.parameter}` in `{target.function.name}`"
        yield Proposal("detach-target", title, edits, _FOR_LOSS, rank)


def detach_at_definition(story: ReuseFeatures, rank: int | None = None) -> Iterator[Proposal]:
    """Yield proposals that detach the carrier where it is computed, so that every reader gets a
    constant.
    """
    outside = not story.same_iteration and not story.bound_inside
    rank = rank if rank is not None else 0 if outside else 2
    for edits in (*_parts_at_definition(story), *_whole_at_definition(story)):
        title = f"Detach `{story.name}` where it is made"
        yield Proposal("detach-at-definition", title, edits, _FOR_ALL, rank)
        return


def _whole_at_definition(story: ReuseFeatures) -> Iterator[tuple[Edit, ...]]:
    """Yield edits that detach the carrier as one tensor; not a container that
    is filled elsewhere.
    """
    idiom = idiom_for(story)
    for module, _, statement in story.binders:
        value, editor = value_of(statement), Editor(module)
        if not isinstance(statement, ast.Assign) or value is None:
            continue
        if all(isinstance(t, ast.Name | ast.Attribute) for t in statement.targets):
            if not isinstance(value, ast.Dict | ast.List | ast.Constant):
                yield (idiom.at(editor, value),)
        else:
            yield (editor.insert_after(statement, f"{story.name} = {idiom.of(story.name)}"),)


def _parts_at_definition(story: ReuseFeatures) -> Iterator[tuple[Edit, ...]]:
    """Yield edits that detach, part by part, a carrier that was seen to be a structure: at the
    statement that binds it, else in the function that returned it.
    """
    cutting = Cutting(story.reuse, story.project)
    path = story.reuse.path
    for binding, where in hops_at(story.project, path, "bound"):
        if binding.name != story.name or binding.kind.kind == "tensor":
            continue
        places = [
            (where.module, value)
            for target, value in assigned_pairs(where.statement)
            if spelled(target) == binding.name
        ]
        for back, there in hops_at(story.project, path[: path.index(binding)], "returned"):
            value = getattr(there.statement, "value", None)
            if value is not None and (back.kind, back.carries) == (binding.kind, binding.carries):
                places.append((there.module, value))
        for module, value in places:
            edits = cutting.replaced(module, value, kind_carried(binding), binding.name)
            yield from [joined(edits)] if edits else []


def collected_without_graph(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that collect a rollout without a graph: other code learns from it."""
    for module, function in collectors(story.reuse, story.project):
        if "torch" in module.text:
            edits = (no_grad_on(module, function),)
            title = f"Collect in `{function.name}` without a graph"
            yield Proposal("no-grad-collecting", title, edits, _FOR_ALL)


def made_without_graph(story: ReuseFeatures, rank: int = 1) -> Iterator[Proposal]:
    """Yield proposals that compute the carrier under `no_grad`: what a loop only reads needs no
    graph from before it.
    """
    if story.same_iteration or story.bound_inside:
        return
    for module, scope, statement in story.binders:
        if story.shared is not None and scope is story.shared.scope:
            edit = wrapped(Editor(module), [statement], no_grad_header(module))
            if edit is not None and "torch" in module.text:
                title = f"Make `{story.name}` without a graph"
                yield Proposal("no-grad-at-definition", title, (edit,), _FOR_ALL, rank)
            return
