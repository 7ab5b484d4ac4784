"""Find where autograd records: the blocks and decorators that switch it on and off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.source.project import FUNCTIONS, Module, spelled

_Around = ast.With | ast.FunctionDef | ast.AsyncFunctionDef
_OFF = ("no_grad", "inference_mode", "set_grad_enabled")


@dataclass(frozen=True)
class Switch:
    """A header that decides whether a place is recorded; `records` is None if that depends on a
    condition (`set_grad_enabled(phase == "train")`).
    """

    around: _Around
    header: ast.expr
    records: bool | None


def switches(module: Module, node: ast.AST) -> Iterator[Switch]:
    """Yield the switches for a place, innermost first, up to the first unconditional one: outer
    ones have no effect.
    """
    for around in module.ancestors(node):
        headers: list[ast.expr] = []
        if isinstance(around, ast.With):
            headers = [item.context_expr for item in around.items]
        elif isinstance(around, FUNCTIONS[:2]):
            headers = around.decorator_list
        else:
            continue
        for header in reversed(headers):
            if (records := _records(header)) is None and not _speaks_of_it(header):
                continue
            yield Switch(around, header, records)
            if records is not None:
                return


def recorded(module: Module, node: ast.AST) -> bool:
    """Return True if a place may be recorded: nothing around it switches recording off
    unconditionally.
    """
    return all(switch.records is not False for switch in switches(module, node))


def _records(header: ast.expr) -> bool | None:
    """Return whether a block's header or a decorator switches recording on or off; None if it does
    not.
    """
    called, given = header, list[ast.expr]()
    if isinstance(header, ast.Call):
        called, given = header.func, [*header.args, *(word.value for word in header.keywords)]
    said = bool(given[0].value) if given and isinstance(given[0], ast.Constant) else None
    match spelled(called).split(".")[-1]:
        case "enable_grad":
            return True
        case "no_grad":
            return False
        case "set_grad_enabled":
            return said
        case "inference_mode":
            return False if not given else None if said is None else not said
    return None


def _speaks_of_it(header: ast.expr) -> bool:
    """Return True if it may switch recording off: `nullcontext() if training
    else torch.no_grad()`.
    """
    return any(word in spelled(header) for word in _OFF)
