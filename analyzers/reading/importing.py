"""Imports: modules of the project are run, everything else is known by its dotted name."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Sequence
from functools import lru_cache

from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractValue, Const, Library, Unknown


def module_frame(
    machine: Machine, path: str, name: str, only: Sequence[ast.stmt] | None = None
) -> InterpreterFrame | None:
    """Return the frame of a project module, run on first use; `only`: these of its statements."""
    if path in machine.modules:
        return machine.modules[path]
    module = machine.project.parsed.get(path)
    if module is None:
        return None
    frame = machine.modules[path] = machine.new_frame(path, "<module>")
    frame.names["__name__"] = Const(name)
    frame.names["__file__"] = Const(path)
    body = module.tree.body if only is None else only
    if path != machine.project.entry:
        machine.execute(body, frame)
        return frame
    for statement in body:
        machine.top = statement
        if machine.execute([statement], frame) is not None:
            break
    machine.top = None
    return frame


def is_library(machine: Machine, node: ast.stmt) -> bool:
    """Return True if a statement of the entry imports only modules outside the project."""
    base = posixpath.dirname(machine.project.entry)
    match node:
        case ast.Import(names=names):
            return not any(find(machine, alias.name, base) for alias in names)
        case ast.ImportFrom(module=str(dotted), level=0):
            return find(machine, dotted, base) is None
    return False


def find(machine: Machine, dotted: str, base: str = "") -> str | None:
    """Return the project file of a dotted module name, looked up from the importing directory."""
    relative = dotted.replace(".", "/")
    directory = base
    while True:
        for candidate in (f"{relative}.py", f"{relative}/__init__.py"):
            path = posixpath.normpath(posixpath.join(directory, candidate))
            if path in machine.project.parsed:
                return path
        above = posixpath.dirname(directory)
        if above == directory:  # no directory, or the root
            return None
        directory = above


def import_module(
    machine: Machine, dotted: str, alias: str | None, frame: InterpreterFrame
) -> None:
    """Execute `import a.b.c [as d]`."""
    path = find(machine, dotted, posixpath.dirname(frame.file))
    if path is not None:
        inner = module_frame(machine, path, dotted)
        value: AbstractValue = Unknown(dotted)
        if inner is not None and isinstance(value, Unknown):
            value.attrs = inner.names
        frame.names[alias or dotted.partition(".")[0]] = value
    elif alias is not None:
        frame.names[alias] = Library(dotted)
    else:
        root = dotted.partition(".")[0]
        frame.names[root] = Library(root)


def import_names(machine: Machine, node: ast.ImportFrom, frame: InterpreterFrame) -> None:
    """Execute `from a.b import c [as d]`, relative or absolute."""
    base = posixpath.dirname(frame.file)
    for _ in range(max(node.level - 1, 0)):
        base = posixpath.dirname(base)
    dotted = node.module or ""
    path = find(machine, dotted, base) if dotted else find(machine, "__init__", base)
    source = module_frame(machine, path, dotted) if path is not None else None
    for alias in node.names:
        name = alias.asname or alias.name
        if source is not None and alias.name == "*":
            frame.names.update((k, v) for k, v in source.names.items() if not k.startswith("__"))
        elif source is not None and alias.name in source.names:
            frame.names[name] = source.names[alias.name]
        elif inner := find(machine, f"{dotted}.{alias.name}".lstrip("."), base):
            import_module(machine, inner.removesuffix(".py").replace("/", "."), name, frame)
        elif node.level == 0:
            frame.names[name] = Library(f"{dotted}.{alias.name}")


@lru_cache(maxsize=4096)
def member(path: str, name: str) -> Library:
    """Return an attribute of an import, by the dotted name of its owner."""
    return Library(f"{path}.{name}")
