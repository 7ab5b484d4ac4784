"""Fixes for a value that an object holds from before a step: made anew where it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.recordtypes import record_fields
from analyzers.explain.spots import Spot, assignments_to, functions_calling, spot
from analyzers.repair.blocks import joined
from analyzers.repair.remake.anew import in_names_of
from analyzers.repair.reschedule.schedule import Schedule
from analyzers.source.calls import calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import (
    assigned_parts,
    called_name,
    definitions,
    names_read,
    value_of,
    walk_scope,
)
from analyzers.source.project import Project, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk

_FRESH = "The loss is computed from the weights as the step has left them."


def anew_where_read(stale: Stale, rank: int = 0) -> Iterator[Proposal]:
    """`batch.feature = net(x)` in front of all phases becomes `net(batch.x)` in the phase that
    reads it behind the step."""
    node, visit = stale.evidence.node, stale.evidence.reached
    made = stale.saving
    if made is None or visit is None or not isinstance(made.statement, ast.Assign):
        return
    target, value = made.statement.targets[0], made.statement.value
    if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Call):
        return
    below = [p for p in visit.stack if node and node.at and p.frame > node.at.frame]
    for reader in (spot(stale.project, place) for place in reversed(below)):
        reads = _reads(reader, target.attr) if reader is not None else []
        if reader is None or not reads:
            continue
        names = _known_by(stale.project, made, target, spelled(reads[0].value))
        if made.module.class_of(made.statement) is reader.module.class_of(reader.statement):
            names["self"] = "self"
        text = in_names_of(reader.module, made.module, value, names)
        if text is not None:
            edits = [reader.editor.replace(read, text) for read in reads]
            everywhere = (node for _, node in stale.project.each(ast.Attribute))
            if len(attributes_loaded(everywhere, target.attr)) == len(reads):
                edits.append(Editor(made.module).delete(made.statement))
            title = f"Compute `{spelled(reads[0])}` anew where it is read"
            yield Proposal("compute-where-read", title, joined(edits), _FRESH, rank)
        return


def called_again(stale: Stale, schedule: Schedule, rank: int) -> Iterator[Proposal]:
    """`net.look(shot)` in front of the step fills `shot.feature`, which is read behind it: called
    there once more, it fills it with the weights as the step has left them."""
    at, walk_at = schedule.block.index(schedule.step), schedule.block.index(schedule.walk)
    editor, project = schedule.where.editor, stale.project
    for name in _members_read(project, schedule.block[at + 1 : walk_at + 1]):
        makers = _makers(project, name)
        calls = [call for s in schedule.block[:at] for call in calls_named(s, *makers)]
        if calls:
            edit = editor.insert_after(schedule.step, editor.text_of(calls[-1]))
            title = f"Call `{spelled(calls[-1].func)}` again behind the step, for `{name}`"
            yield Proposal("fresh-forward", title, (edit,), _FRESH, rank)
            return


def _members_read(project: Project, statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The members of objects that statements read, or the functions that they call."""
    called = {called_name(n) for s in statements for n in walk(s) if isinstance(n, ast.Call)}
    functions = [f for name in called - {""} for _, f in project.functions_named(name)]
    names = [name for node in (*statements, *functions) for name in sorted(names_read(node))]
    yield from dict.fromkeys(name for name in names if "." in name)


def _makers(project: Project, name: str) -> set[str]:
    """What is called to give a member its value: methods, what calls them, and modules, by name."""
    found: set[str] = set()
    for module, statement in assignments_to(project, name):
        scope, kind = module.scope_of(statement), module.class_of(statement)
        own = getattr(scope, "name", "__init__")
        if own == "forward" and kind is not None:
            found |= {
                spelled(target).rpartition(".")[2]
                for _, node in project.each(ast.Assign)
                for target, value in assigned_pairs(node)
                if isinstance(value, ast.Call) and called_name(value) == kind.name
            }
        elif own != "__init__":
            found.add(own)
    return {caller for maker in found for caller in functions_calling(project, maker)}


def _reads(reader: Spot, attribute: str) -> list[ast.Attribute]:
    """Where a function reads an attribute of one object that it knows by one name."""
    found = attributes_loaded(walk_scope(reader.scope), attribute)
    return found if len({spelled(node.value) for node in found}) == 1 else []


def _known_by(project: Project, made: Spot, target: ast.Attribute, owner: str) -> dict[str, str]:
    """What the object holds of the names of the function that filled it, as its reader calls it."""
    held = spelled(target.value)
    names = {held: owner}
    for statement in definitions(made.scope, held):
        if isinstance(call := value_of(statement), ast.Call):
            fields = record_fields(project, spelled(call.func))
            pairs = [*zip(fields, call.args, strict=False)]
            pairs += [(k.arg, k.value) for k in call.keywords if k.arg in fields]
            names |= {v.id: f"{owner}.{f}" for f, v in pairs if isinstance(v, ast.Name)}
    for node in walk_scope(made.scope):
        for part, value in assigned_parts(node) if isinstance(node, ast.stmt) else ():
            if isinstance(part, ast.Attribute) and spelled(part.value) == held:
                if isinstance(value, ast.Name):
                    names[value.id] = f"{owner}.{part.attr}"
    return names
