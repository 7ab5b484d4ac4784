"""Make an optimizer after what it should train."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import (
    SourceLocation,
    reaching,
)
from analyzers.repair.blocks import joined, lines_with
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.calls import OPTIMIZER_STEP
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, names_read
from analyzers.source.project import Project
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import nodes_of


def moved_after(where: SourceLocation, project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """Propose to move the optimizer and what is derived from it after the statement that replaces
    leaves."""
    moved, last = moving(where, project, root_of_names(fault.instead), fault.instead)
    if last is not None:
        edits = move_after(where, moved, last)
        yield Proposal("optimizer-behind", _after_statement(last), edits, "", 0)


def moving(
    where: SourceLocation, project: Project, name: str, leaves: Sequence[str] = ()
) -> tuple[list[ast.stmt], ast.stmt | None]:
    """Return the statements derived from the optimizer, and the last later one that replaces the
    leaves.

    The first element includes the optimizer's own statement and ends before the training; the
    second is None if nothing replaces a value of this name, or a module of these leaves.
    """
    ahead = []
    for statement in statements_after(where.module, where.statement):
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            if reaching(project, statement, OPTIMIZER_STEP, *BACKWARD_CALLS):
                break
            ahead.append(statement)
    own, moved, last = set(bindings(where.statement)), [where.statement], None
    for statement in ahead:
        if own & names_read(statement):
            own |= set(bindings(statement))
            moved.append(statement)
        elif _changes(statement, name) or _replaces(statement, leaves):
            last = statement
    return [s for s in moved if last is None or s.lineno < last.lineno], last


def _changes(statement: ast.stmt, name: str) -> bool:
    """Return True if a statement may rebind a name or a part of its value."""
    within = re.compile(rf"{re.escape(name)}(?:[.\[].*)?")
    given = (n for n in nodes_of(statement, ast.Call) if name in names_read(n))
    bound = any(within.fullmatch(target) for target in bindings(statement))
    return bound or (isinstance(statement, ast.Expr) and any(given))


def _replaces(statement: ast.stmt, leaves: Sequence[str]) -> bool:
    """Return True if a statement sets a module of the leaves, whose root another function names:
    `net.head` for `model.head.weight`, and `body.head` for `model.body.head.weight`."""
    owners = {leaf.rpartition(".")[0] for leaf in leaves}
    tails = {owner.partition(".")[2] for owner in owners}
    targets = [target for target in bindings(statement) if "." in target]
    return any(
        target.partition(".")[2] in tails or any(f".{t}".endswith(f".{target}") for t in tails)
        for target in targets
    )


def move_after(
    where: SourceLocation, moved: Sequence[ast.stmt], last: ast.stmt, edit: Edit | None = None
) -> tuple[Edit, ...]:
    """Return edits that move statements after another one, the first of them changed by `edit`."""
    editor = where.editor
    first, *rest = moved
    lines = lines_with(editor, first, [edit]) if edit is not None else editor.lines_of(first)
    lines = [*lines, *(editor.lines_of(*rest) if rest else [])]
    return joined([*editor.delete_all(moved), editor.insert_after(last, *lines)])


def _after_statement(last: ast.stmt) -> str:
    return f"Create the optimizer after line {last.lineno}, which replaces what it trains"


def root_of_names(names: Sequence[str]) -> str:
    """Return the name that the paths begin with; `self.net` within an object."""
    first = re.match(r"(?:self\.)?\w+", names[0])
    return first[0] if first is not None else names[0]
