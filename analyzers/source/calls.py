"""Calls that a stretch of source makes, by their names."""

from __future__ import annotations

import ast

from analyzers.source.flow import called_name
from analyzers.source.project import spelled
from analyzers.source.trees import walk


def calls_named(node: ast.AST, *names: str) -> list[ast.Call]:
    """Calls of these names, in source order."""
    found = [n for n in walk(node) if isinstance(n, ast.Call) and called_name(n) in names]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def steps(node: ast.AST) -> list[ast.Call]:
    """Calls that look like an optimizer's step (`opt.step()`, `scaler.step(opt)`)."""
    return [
        call
        for call in calls_named(node, "step")
        if isinstance(call.func, ast.Attribute)
        and "sched" not in spelled(call.func).lower()
        and len(call.args) <= 1
    ]
