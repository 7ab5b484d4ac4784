"""Make an optimizer after what it should train, or give it what no other one holds."""

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
from analyzers.source.callees import is_call
from analyzers.source.calls import OPTIMIZER_STEP
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import Project, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import nodes_of
from provenance import CodeLine


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


def holders(where: SourceLocation) -> list[SourceLocation]:
    """Return where the function makes optimizers of the whole module that the one made here has,
    in order: this one among them, if it has a whole module."""
    made = [(s, call) for s in statements_of(where.scope) if (call := _made(s)) is not None]
    here = next((call for statement, call in made if statement is where.statement), None)
    if here is None:
        return []
    names, given = where.module.names, spelled(here.args[0])
    alike = [
        (statement, call.lineno)
        for statement, call in made
        if spelled(call.args[0]) == given
        and names.qualified(call.func) == names.qualified(here.func)
    ]
    path = where.module.path
    return [SourceLocation(where.module, one, CodeLine(path, line)) for one, line in alike]


def given_others(where: SourceLocation, fault: SilentFault) -> Iterator[Proposal]:
    """Propose to give an optimizer whose module another one has the module that none has."""
    made, names = _made(where.statement), {bindings(one.statement)[0] for one in holders(where)}
    if made is not None and len(names) > 1:
        text = f"{root_of_names(fault.instead)}.parameters()"
        edits = (where.editor.replace(made.args[0], text),)
        title = f"Give `{bindings(where.statement)[0]}` `{text}`"
        yield Proposal("optimizer-of-others", title, edits, "", 0)


def _made(statement: ast.stmt) -> ast.Call | None:
    """Return the call of a statement that is given the parameters of a whole module."""
    match value_of(statement):
        case ast.Call(args=[ast.Call(args=[], keywords=[]) as given, *_]) as call:
            whole = is_call(given, "torch.nn.Module.parameters")
            return call if whole and bindings(statement) else None
    return None
