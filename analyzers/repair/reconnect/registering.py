"""Fixes where a module does not know what it is to train: it has no part in a plain list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from analyzers.advice.layers import unregistered_layers
from analyzers.advice.missing_parameters import used_up_generator
from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import alias
from analyzers.source.callees import is_call
from analyzers.source.edits import Editor
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import nodes_of

What = Literal["Module", "Parameter"]
_NO_TENSORS = ("torch.nn.Parameter", "builtins.list", "builtins.dict")
_REGISTERED = "The module knows them, and `parameters()` gives them to the optimizer."


def registered(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Propose `nn.ModuleList` or `nn.ModuleDict` around the layers that an attribute gets.

    Parameters get `nn.ParameterList` or `nn.ParameterDict`; a tensor becomes an `nn.Parameter`.
    """
    held, _, inner = fault.instead[0].partition("[")
    what: What = "Module" if "." in inner else "Parameter"
    for module, statement in project.each(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=attr)]):
                if attr == held.rpartition(".")[2]:
                    yield from registered_at(module, statement, what)
                    yield from _as_parameter(module, statement) if not inner else ()


def _as_parameter(module: Module, statement: ast.Assign) -> Iterator[Proposal]:
    """Propose an `nn.Parameter` for the tensor that a statement gives an attribute."""
    editor, target = Editor(module), spelled(statement.targets[0])
    made = any(is_call(node, *_NO_TENSORS) for node in nodes_of(statement.value, ast.Call))
    if target.startswith("self.") and not made and module.class_of(statement) is not None:
        text = f"{alias(module, 'torch.nn')}.Parameter({editor.text_of(statement.value)})"
        edits = (editor.replace(statement.value, text),)
        yield Proposal("registered", f"Make `{target}` an `nn.Parameter`", edits, _REGISTERED, 0)


def given_parameters(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Propose to register what a module holds; to make a list of a generator that is used up."""
    for module, node in project.each(ast.Assign):
        if unregistered_layers(node, module) is not None:
            yield from registered_at(module, node, "Module")
        if (name := used_up_generator(node, module)) is not None:
            editor = Editor(module)
            edit = editor.replace(node.value, f"list({editor.text_of(node.value)})")
            yield Proposal("listed", f"Make a list of `{name}`", (edit,), "", 1)


def registered_at(module: Module, statement: ast.stmt, what: What) -> Iterator[Proposal]:
    """Propose the same for one statement that assigns the list or dictionary to an attribute."""
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            kind = "List" if isinstance(value, ast.List | ast.ListComp) else ""
            kind = "Dict" if isinstance(value, ast.Dict | ast.DictComp) else kind
            owner = module.class_of(target)
            if not kind or owner is None or not owner.bases:
                return
            empty = isinstance(value, ast.List) and not value.elts
            empty |= isinstance(value, ast.Dict) and not value.keys
            given = "" if empty else Editor(module).text_of(value)
            text = f"{alias(module, 'torch.nn')}.{what}{kind}({given})"
            edits = (Editor(module).replace(value, text),)
            title = f"Register what `{spelled(target)}` holds with its module"
            yield Proposal("registered", title, edits, _REGISTERED, 0)
