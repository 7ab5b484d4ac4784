"""Find the classes of the project that only hold fields, and the types of those fields."""

from __future__ import annotations

import ast

from analyzers.source.calls import each_call
from analyzers.source.project import Project, spelled
from analyzers.source.trees import nodes_of, remembered


def _records(project: Project, field: str) -> list[ast.ClassDef]:
    """Return the classes that declare the field."""
    return [
        node
        for _, node in project.each(ast.ClassDef)
        if any(isinstance(s, ast.AnnAssign) and spelled(s.target) == field for s in node.body)
    ]


def tensor_fields(project: Project, field: str) -> list[str]:
    """Return the fields declared as tensors in the only class that declares this field."""
    records = _records(project, field)
    return [
        spelled(statement.target)
        for statement in (records[0].body if len(records) == 1 else ())
        if isinstance(statement, ast.AnnAssign) and spelled(statement.annotation).endswith("Tensor")
    ]


def record_fields(project: Project, name: str) -> list[str]:
    """Return the fields that the project's class of this name declares."""
    node = _classes(project).get(name)
    body = node.body if node is not None else ()
    return [spelled(s.target) for s in body if isinstance(s, ast.AnnAssign)]


@remembered
def _classes(project: Project) -> dict[str, ast.ClassDef]:
    """Return the project's classes by their names, of several the first."""
    return {node.name: node for _, node in reversed([*project.each(ast.ClassDef)])}


def is_named_tuple_field(project: Project, field: str) -> bool:
    """Return True if a named tuple has the field, declared as a class or by `namedtuple("Name",
    ...)`.
    """
    if any(spelled(b).endswith("NamedTuple") for c in _records(project, field) for b in c.bases):
        return True
    return any(
        field in str(inner.value).replace(",", " ").split()
        for _, call in each_call(project, "collections.namedtuple")
        for inner in nodes_of(call, ast.Constant)
    )
