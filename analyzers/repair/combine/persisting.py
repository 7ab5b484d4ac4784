"""The last resort for a tape of the script's own: it is made so that it may be asked again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.rewrite import with_keyword
from analyzers.source.edits import Editor
from analyzers.source.flow import called_name, statements_of
from analyzers.source.trees import walk


def ask_again(story: Story) -> Iterator[Proposal]:
    """`Tape(persistent=True)`, where the tape raises of itself unless its maker said so."""
    shared = story.shared
    if shared is None or story.reuse.engine == "torch":
        return
    permits = {
        kind.name: option
        for _, kind in story.project.each(ast.ClassDef)
        for option in _that_permit(kind)
    }
    editor = Editor(shared.module)
    for statement in statements_of(shared.scope):
        for call in _own_calls(statement):
            option = permits.get(called_name(call))
            if option and not any(keyword.arg in (option, None) for keyword in call.keywords):
                yield Proposal(
                    "retain-graph",
                    f"Last resort: make `{called_name(call)}` with `{option}=True`",
                    (with_keyword(editor, call, option, "True"),),
                    "Last resort: what was recorded stays in memory, and a step between the two "
                    "backwards would leave it with weights that have changed.",
                    9,
                    last_resort=True,
                )


def _own_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of a statement's own expressions, without the statements in its body."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt | ast.excepthandler):
            yield from (node for node in walk(child) if isinstance(node, ast.Call))


def _that_permit(kind: ast.ClassDef) -> Iterator[str]:
    """Options of the class's constructor, off unless told, without which a method raises."""
    inits = [s for s in kind.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
    options = {name for init in inits for name in _switches(init.args)}
    for node in walk(kind):
        if isinstance(node, ast.If) and any(isinstance(s, ast.Raise) for s in node.body):
            for part in walk(node.test):
                match part:
                    case ast.UnaryOp(
                        op=ast.Not(), operand=ast.Attribute(value=ast.Name(id="self"), attr=name)
                    ) if name in options:
                        yield name


def _switches(given: ast.arguments) -> Iterator[str]:
    pairs = [
        *zip(given.args[len(given.args) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if isinstance(default, ast.Constant) and default.value is False:
            yield argument.arg
