"""Compute without a graph what a method copies into the buffers of its object, as a rollout."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import wrapped
from analyzers.repair.leaf.leaves import no_grad_header
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.signatures import named
from analyzers.source.writes import writes

_SEVERAL = 2
_TRADEOFF = "What is recorded is data: a loss learns from what it computes of it."


def rollout_without_graph(stale: StaleValue) -> Iterator[Proposal]:
    """Yield proposals with `no_grad` around the call whose results the changing method is given."""
    for where in stale.statements[:1]:
        recording = where.scope
        if isinstance(recording, ast.FunctionDef) and _records(recording):
            for module, call in stale.project.each(ast.Call):
                if isinstance(call.func, ast.Attribute) and call.func.attr == recording.name:
                    yield from _computed_for(module, call)


def _records(method: ast.FunctionDef) -> bool:
    """Return True if a method copies several of its arguments into attributes of its object."""
    given = named(method) - {"self"}
    filled = {
        write.name
        for statement in statements_of(method)
        for write in writes(statement)
        if write.name.startswith("self.") and names_read(statement) & given
    }
    return len(filled) >= _SEVERAL


def _computed_for(module: Module, call: ast.Call) -> Iterator[Proposal]:
    statement = module.statement_at(call.lineno, call.col_offset)
    if statement is None:
        return
    names = {spelled(argument) for argument in call.args}
    before = [s for s in module.block_of(statement) if s.lineno < statement.lineno]
    made = [s for s in before if isinstance(value_of(s), ast.Call) and names & set(bindings(s))]
    if not made or "torch" not in module.text:
        return
    most = max(made, key=lambda s: len(names & set(bindings(s))))
    edit = wrapped(Editor(module), [most], no_grad_header(module))
    if edit is not None:
        title = f"Compute without a graph what `{spelled(call.func)}` records"
        yield Proposal("no-grad-collecting", title, (edit,), _TRADEOFF)
