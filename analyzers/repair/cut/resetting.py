"""A reset of the script's own that runs in each pass, and misses what lies deeper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.story import Story
from analyzers.source.edits import Editor
from analyzers.source.flow import called_name
from analyzers.source.project import Loop, Module


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
                    "Each pass begins with no state of the one before.",
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
