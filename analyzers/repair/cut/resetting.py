"""Fixes by which each pass begins with no state of the one before: by the script's own reset."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.cut.detaching import starts_as_none
from analyzers.repair.cut.expected import visible
from analyzers.repair.remake.chains import in_front
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.helpers import bare_methods
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, bound_within, called_name, names_read, reads
from analyzers.source.project import Loop, Module
from analyzers.source.trees import walk

_ANEW = "Each pass begins with no state of the one before."


def reset_of_all_layers(story: Story) -> Iterator[Proposal]:
    """`for layer in net.children()` around what resets the carrier reaches the first layers only;
    `net.modules()` has those within them too. It comes before any cut: the script says that each
    pass begins anew."""
    for module, loop in _loops_resetting(story):
        children = loop.iter if isinstance(loop, ast.For) else None
        if isinstance(children, ast.Call) and called_name(children) == "children":
            editor, function = Editor(module), children.func
            if isinstance(function, ast.Attribute):
                owner = editor.text_of(function.value)
                yield Proposal(
                    "reset-all-layers",
                    f"Reset `{story.attribute}` in all layers of `{owner}`, not in the first only",
                    (editor.replace(function, f"{owner}.modules"),),
                    _ANEW,
                    -SECOND_CHOICE,
                )


def _loops_resetting(story: Story) -> Iterator[tuple[Module, Loop]]:
    """The innermost loops around what gives the carrier a value in the passes: a statement, or the
    call of a method that does."""
    binders = [b for b in story.binders if story.attribute and story.binds_inside(*b)]
    for module, _, statement in binders:
        yield from ((module, loop) for loop in module.loops_around(statement)[:1])
    methods = {getattr(scope, "name", "") for _, scope, _ in binders} - {"forward", "__init__"}
    for module, node in story.project.each(ast.Expr):
        if isinstance(node.value, ast.Call) and called_name(node.value) in methods:
            yield from ((module, loop) for loop in module.loops_around(node)[:1])


def reset_in_each_pass(story: Story, rank: int) -> Iterator[Proposal]:
    """At the head of a loop whose passes go through the same data again: the script's own reset, or
    the None that the carrier begins with. Where it begins as a parameter, that learns in each."""
    shared, loop = story.shared, story.loop
    if shared is None or loop is None or not _goes_through_again(story, loop):
        return
    if story.name not in visible(story) or not (lines := list(_beginning_anew(story))):
        return
    edit = Editor(shared.module).insert_before(head_of(loop), lines[0])
    title = f"Begin `{story.name}` anew at the head of the loop"
    yield Proposal("reset-at-head", title, (edit,), _ANEW, rank)


def reset_by_call(story: Story, rank: int) -> Iterator[Proposal]:
    """At the head of the loop, what resets the carrier in front of it: the call, with constants
    only, of a function that has the carrier as a name of its own, where the loop has none."""
    shared, loop = story.shared, story.loop
    if shared is None or loop is None or story.attribute or story.name in visible(story):
        return
    own = {getattr(scope, "name", "") for _, scope, _ in story.binders}
    for statement in in_front(shared.module, shared.scope, loop):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in own:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if all(isinstance(value, ast.Constant) for value in given):
                editor = Editor(shared.module)
                edit = editor.insert_before(head_of(loop), editor.text_of(call))
                title = f"Begin `{story.name}` anew at the head of the loop"
                yield Proposal("reset-at-head", title, (edit,), _ANEW, rank)
                return


def _goes_through_again(story: Story, loop: Loop) -> bool:
    """Whether a loop only counts its passes, and one within it, or in what it calls, takes the
    same data each time. Where that one only counts, too, each pass may go on with the data."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    called = {called_name(n) for n in walk(loop) if isinstance(n, ast.Call)} - {""}
    functions = [f for name in called for _, f in story.project.functions_named(name)]
    inner = [n for node in (*loop.body, *functions) for n in walk(node) if isinstance(n, ast.For)]
    own = bound_within(loop)
    return (
        _counts(loop)
        and any(not _counts(n) and not names_read(n.iter) & own for n in inner)
        and not any(story.frame.freed in set(walk(n)) or reads(n, loop.target.id) for n in inner)
    )


def _counts(loop: ast.For) -> bool:
    return any("range" in called_name(n) for n in walk(loop.iter) if isinstance(n, ast.Call))


def _beginning_anew(story: Story) -> Iterator[str]:
    """Statements by which the carrier is again as it was in front of the first pass."""
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
    """Whether a method does nothing but give its object's attributes constants, this one too."""
    body = [s for s in method.body if not isinstance(s, ast.Expr)]
    plain = all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) for s in body)
    return plain and any(name in bindings(s) for s in body) and method.name != "__init__"
