"""Older spellings in a script's text, read as what they mean today; and GPUs that are named by a
number. No line moves.

The text stays as it was sent; only what is compiled from it differs.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import re
from typing import Any

import torch

from ..core.frames import OWNERS, USER
from ..script import entry
from .finding import Report

# keyword of an older torch → of today; None: it is left out
_KEYWORDS = {"retain_variables": "retain_graph", "volatile": None}
_METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys"}
_ASYNC = re.compile(rb"\basync(\s*=(?!=))")
_SUSPECTED = re.compile(
    rb"retain_variables|volatile|\.iter(?:items|values|keys)\b|\.has_key\b|\.data\s*\["
    rb"|\btorch\.device\(\s*[\w.]+\s*\)"
)
_FIRST = "__first__"
_METHOD = "__method_of_python_2__"
_DEVICE = "__device__"


def install(report: Report) -> None:
    """Compile the user's files so, the entry and what it imports."""
    loader: Any = importlib.machinery.SourceFileLoader
    compiled = loader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
        if isinstance(data, bytes) and OWNERS[str(path)] == USER:
            data = modern(data, str(path), report)
        return compiled(self, data, path, **options)

    loader.source_to_code = source_to_code
    entry.read_as = lambda source, path: modern(source, path, report)
    vars(builtins)[_FIRST] = lambda data, key: _item(data, key, report)
    vars(builtins)[_DEVICE] = lambda given: _device(given, report)
    vars(builtins)[_METHOD] = lambda owner, name: _method(owner, name, report)


def modern(source: bytes, path: str, report: Report) -> Any:
    """Return the source's tree with outdated syntax replaced; the source itself if there is
    none."""
    renamed = _ASYNC.sub(rb"non_blocking\1", source)
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        try:
            tree = ast.parse(renamed, path)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return source
        report(
            "async=", "`async=` is a keyword of Python now: it was read as `non_blocking=`.", "api"
        )
        source = renamed
    if not _SUSPECTED.search(source):
        return source
    return ast.fix_missing_locations(_Older(report).visit(tree))


class _Older(ast.NodeTransformer):
    """Replaces what today's torch and Python refuse."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg in _KEYWORDS:
                self._tell(keyword.arg, _KEYWORDS[keyword.arg])
                keyword.arg = _KEYWORDS[keyword.arg] or "volatile"
        node.keywords = [k for k in node.keywords if k.arg != "volatile"]
        match node.func:
            case ast.Attribute(value=owner, attr=name) if name in _METHODS or name == "has_key":
                node.func = _call(_METHOD, node.func, owner, ast.Constant(name))
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="torch"), attr="device"),
                args=[ast.Constant(value=int()) | ast.Name() | ast.Attribute() as given],
                keywords=[],
            ):
                return _call(_DEVICE, node, given)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Attribute(attr="data"), slice=ast.Constant(value=0), ctx=ast.Load()
            ):
                return _call(_FIRST, node, node.value, node.slice)
        return node

    def _tell(self, old: str, new: str | None) -> None:
        instead = f"it was read as `{new}=`" if new else "it was left out"
        self._report(f"{old}=", f"`{old}=` is of an older torch: {instead}.", "api")


def _call(function: str, at: ast.expr, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(ast.Name(function, ast.Load()), list(arguments), [])
    return ast.copy_location(call, at)


def _item(data: Any, key: Any, report: Report) -> Any:
    """Handle `loss.data[0]`, which read a number before torch 0.4."""
    if getattr(data, "ndim", None) != 0:
        return data[key]
    report(".data[0]", "`.data[0]` of a single number was read as `.item()`.", "api")
    return data.item()


def _device(given: Any, report: Report) -> torch.device:
    """Handle `torch.device(0)`, which a machine without GPUs refuses."""
    if type(given) is not int or torch.accelerator.is_available():
        return torch.device(given)
    report("cuda", "tensors and modules stay on the CPU")
    return torch.device("cpu")


def _method(owner: Any, name: str, report: Report) -> Any:
    """Handle `d.iteritems`, `d.has_key`."""
    if hasattr(owner, name):
        return getattr(owner, name)
    report(f".{name}", f"`.{name}()` is of Python 2: what replaced it was used.", "api")
    return owner.__contains__ if name == "has_key" else getattr(owner, _METHODS[name])
