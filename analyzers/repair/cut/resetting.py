"""Start each iteration without the state of the previous one, by the script's own reset."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.repair.blocks import joined
from analyzers.repair.cut.detaching import starts_as_none
from analyzers.repair.cut.expected import visible
from analyzers.repair.remake.chains import preceding
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.helpers import bare_methods
from analyzers.source.callees import is_call, own_name
from analyzers.source.calls import makes_leaf
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, bound_within, names_read, reads
from analyzers.source.project import Loop, Module, Project, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import position, walk

_SHUFFLING = (
    *("torch.randperm", "numpy.random.permutation", "random.sample"),
    "torch.utils.data.RandomSampler",
)
_FRESH_STATE = "Each pass begins with no state of the one before."
_ASSUMED = (
    "Assumes that the passes of this loop do not belong together; a detach assumes that each goes "
    "on where the one before it ended."
)


def reset_of_all_layers(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that replace `for layer in net.children()`, which resets only the first
    layers, by `net.modules()`, which includes nested ones. They come before any cut: the script
    shows that each iteration should start fresh.
    """
    for module, loop in _loops_resetting(story):
        match loop:
            case ast.For(iter=ast.Call(func=ast.Attribute(value=net) as function) as call) if (
                is_call(call, "torch.nn.Module.children")
            ):
                editor, owner = Editor(module), spelled(net)
                edit = editor.replace(function, f"{owner}.modules")
                where = f"in all layers of `{owner}`, not in the first only"
                title = f"Reset `{story.attribute}` {where}"
                yield Proposal("reset-all-layers", title, (edit,), _FRESH_STATE, -SECOND_CHOICE)


def _loops_resetting(story: ReuseFeatures) -> Iterator[tuple[Module, Loop]]:
    """Yield the innermost loops around what rebinds the carrier in the iterations: a statement, or
    the call of a method that does.
    """
    binders = [b for b in story.binders if story.attribute and story.binds_inside(*b)]
    for module, _, statement in binders:
        yield from ((module, loop) for loop in module.loops_around(statement)[:1])
    methods = {getattr(scope, "name", "") for _, scope, _ in binders} - {"forward", "__init__"}
    for module, node in story.project.each(ast.Expr):
        if isinstance(node.value, ast.Call) and own_name(node.value) in methods:
            yield from ((module, loop) for loop in module.loops_around(node)[:1])


def reset_in_each_pass(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield proposals for a loop whose iterations use the same data again: at its head, the
    script's own reset, or the None with which the carrier begins. A carrier that begins as a
    parameter learns in each iteration and is not reset.
    """
    if story.loop is not None and story.name in visible(story):
        if _goes_through_again(story, story.loop):
            yield from _at_head(story, story.loop, _restarted(story), rank)


def reset_by_call(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that repeats, at the head of the loop, the call before it that resets the
    carrier: with constant arguments, of a function in which the carrier is local while the loop
    does not name it.
    """
    shared, loop = story.shared, story.loop
    if shared is None or loop is None or story.attribute or story.name in visible(story):
        return
    own = {getattr(scope, "name", "") for _, scope, _ in story.binders}
    calls = (
        Editor(shared.module).text_of(s)
        for s in preceding(shared.module, shared.scope, loop)
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
        if spelled(s.value.func) in own and not names_read(s) - own
    )
    yield from _at_head(story, loop, calls, rank)


def reset_for_samples(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that moves the script's own reset from before a loop to its head, if the
    iterations take samples in a random order, or if another loop of the script resets in each
    iteration. It comes before any cut.
    """
    shared, loop = story.shared, story.loop
    if shared is None or not isinstance(loop, ast.For):
        return
    editor, shuffled = Editor(shared.module), _is_shuffled(loop, story.project)
    for statement in reversed(list(preceding(shared.module, shared.scope, loop))):
        match statement:
            case ast.Expr(value=ast.Call(args=[], keywords=[]) as call) if _resets(story, call):
                if not (shuffled or _is_reset_elsewhere(shared.scope, call, story.project)):
                    return
                text = editor.text_of(statement)
                edits = [editor.delete(statement), editor.insert_before(head_of(loop), text)]
                title = f"Call `{text}` for each batch"
                yield Proposal("reset-at-head", title, joined(edits), _FRESH_STATE, -SECOND_CHOICE)
                return


def reset_moved_in(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that moves the carrier's first binding from before the loop to its head. It
    comes before any cut if the iterations take samples in a random order, and otherwise next to the
    cuts: whether an iteration continues the previous one is not in the source.
    """
    shared, loop = story.shared, story.loop
    if shared is None or not isinstance(loop, ast.For):
        return
    made = [
        statement
        for statement in preceding(shared.module, shared.scope, loop)
        if isinstance(statement, ast.Assign) and bindings(statement) == [story.name]
    ]
    if not made or not _begins_bare(made[-1].value):
        return
    editor, text = Editor(shared.module), Editor(shared.module).text_of(made[-1])
    between = [s for s in statements_after(shared.module, made[-1]) if position(s) < position(loop)]
    alone = not any(reads(s, story.name) for s in between) and not _read_later(story, loop)
    edits = [editor.insert_before(head_of(loop), text)]
    edits += [editor.delete(made[-1])] if alone else []
    rank = -SECOND_CHOICE if _is_shuffled(loop, story.project) else rank
    title = f"Begin each pass with `{text}`"
    yield Proposal("reset-moved-in", title, joined(edits), _ASSUMED, rank)


def _read_later(story: ReuseFeatures, loop: ast.For) -> bool:
    """Return True if the carrier is read after the loop."""
    later = statements_after(story.frame.module, loop)
    return any(reads(statement, story.name) for statement in later)


def _begins_bare(value: ast.expr) -> bool:
    """Return True if a first value is created for the purpose: None, zeros, the result of a call
    without a graph; not a leaf that learns, and not data.
    """
    if makes_leaf(value) or isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        return False
    return isinstance(value, ast.Call | ast.Constant | ast.Tuple)


def _resets(story: ReuseFeatures, call: ast.Call, depth: int = 2) -> bool:
    """Return True if a function called by a plain name, or one that it calls, only binds the
    carrier to its first value.
    """
    for _, function in story.project.functions_called(call):
        if not isinstance(function, ast.FunctionDef):
            continue
        if story.attribute and _only_begins(function, f"self.{story.attribute}"):
            return True
        inner = [n for n in walk(function) if isinstance(n, ast.Call) and not n.args]
        if depth > 1 and any(_resets(story, one, depth - 1) for one in inner):
            return True
    return False


def _is_reset_elsewhere(scope: ast.AST, call: ast.Call, project: Project) -> bool:
    """Return True if a loop of another function makes the same call in each iteration, before
    others.
    """
    for module, loop in project.each(ast.For):
        resets = [s for s in loop.body[:-1] if isinstance(s, ast.Expr)]
        named = {own_name(s.value) for s in resets if isinstance(s.value, ast.Call)}
        if own_name(call) in named and module.scope_of(loop) is not scope:
            return True
    return False


def _is_shuffled(loop: ast.For, project: Project) -> bool:
    """Return True if a loop takes samples in a random order, by its own expression or by the
    definition of what it iterates over (unless it only counts).
    """
    names = {name.rpartition(".")[2] for name in names_read(loop.iter)} if not _counts(loop) else ()
    makings = [loop.iter]
    for _, made in project.each(ast.Assign):
        if any(spelled(t).rpartition(".")[2] in names for t in made.targets):
            makings.append(made.value)
    return any(_in_random_order(making) for making in makings)


def _in_random_order(value: ast.expr) -> bool:
    for node in walk(value):
        if isinstance(node, ast.Call):
            if is_call(node, *_SHUFFLING):
                return True
            shuffles = [one.value for one in node.keywords if one.arg == "shuffle"]
            if any(isinstance(one, ast.Constant) and one.value is True for one in shuffles):
                return True
    return False


def _at_head(
    story: ReuseFeatures, loop: Loop, lines: Iterator[str], rank: int
) -> Iterator[Proposal]:
    """Yield a proposal with the first of these statements at the head of the loop."""
    for line in islice(lines, 1):
        edit = Editor(story.frame.module).insert_before(head_of(loop), line)
        title = f"Reset `{story.name}` at the head of the loop"
        yield Proposal("reset-at-head", title, (edit,), _FRESH_STATE, rank)


def _goes_through_again(story: ReuseFeatures, loop: Loop) -> bool:
    """Return True if a loop only counts its iterations, and an inner loop, also in functions that
    it calls, uses the same data each time. If the inner loop only counts too, each iteration may
    continue with the data.
    """
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    called = _called(loop) - {""}
    functions = [f for name in called for _, f in story.project.functions_named(name)]
    inner = [n for node in (*loop.body, *functions) for n in walk(node) if isinstance(n, ast.For)]
    own = bound_within(loop)
    return (
        _counts(loop)
        and any(not _counts(n) and not names_read(n.iter) & own for n in inner)
        and not any(story.frame.freed in walk(n) or reads(n, loop.target.id) for n in inner)
    )


def _called(node: ast.AST) -> set[str]:
    return {own_name(n) for n in walk(node) if isinstance(n, ast.Call)}


def _counts(loop: ast.For) -> bool:
    return any("range" in name for name in _called(loop.iter))


def _restarted(story: ReuseFeatures) -> Iterator[str]:
    """Yield statements by which the carrier is again as it was before the first iteration."""
    owner, dot, attribute = story.name.rpartition(".")
    if not dot:
        if starts_as_none(story.frame.scope, story.name):
            yield f"{story.name} = None"
        return
    holders = {kind for m, s, _ in story.binders if (kind := m.class_of(s)) is not None}
    for kind, method in bare_methods(story.project):
        if kind in holders and _only_begins(method, f"self.{attribute}"):
            yield f"{owner}.{method.name}()"
    if any(starts_as_none(kind, f"self.{attribute}") for kind in holders):
        yield f"{story.name} = None"


def _only_begins(method: ast.FunctionDef, name: str) -> bool:
    """Return True if a method only sets its object's attributes to constants, this one included."""
    body = [s for s in method.body if not isinstance(s, ast.Expr)]
    plain = all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) for s in body)
    return plain and any(name in bindings(s) for s in body) and method.name != "__init__"
