"""Recompute a value where it is read, in the names of the reading function: pass in what it is
computed from, or read it from the object that holds it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import CallFrame, arguments, call_into, handed_down
from analyzers.explain.reuse.recordtypes import record_fields
from analyzers.explain.source_locations import (
    SourceLocation,
    assignments_to,
    functions_calling,
    resolve_location,
)
from analyzers.repair.blocks import joined, text_with
from analyzers.repair.remake.constructors import kept_by
from analyzers.repair.reschedule.schedule import StepBeforeBackward
from analyzers.repair.rewrite import head_of, recomputed
from analyzers.source.callees import own_name
from analyzers.source.calls import calls_to, own_calls
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, names_read, value_of, walk_scope
from analyzers.source.project import FUNCTIONS, Loop, Module, Project, spelled
from analyzers.source.reads import attributes_loaded, names_loaded
from analyzers.source.signatures import own_names
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk


def computed_below(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that move `adj = model.graph()` from the caller into the loop of the function
    that receives `adj`, in that function's own names.
    """
    shared, loop = story.shared, story.loop
    above = story.above
    if shared is None or loop is None or len(above) < 2:
        return
    for caller, argument in handed_down(above, story.name):
        made = definitions(caller.scope, spelled(argument))
        call = call_into(caller, shared.scope)
        if caller is not above[-2] or call is None or len(made) != 1:
            return
        if not isinstance(made[0], ast.Assign) or not isinstance(made[0].targets[0], ast.Name):
            return
        names = {spelled(v): p for p, v in arguments(call, shared.module, shared.scope)}
        own = names_loaded(walk(made[0].value), *own_names(caller.scope))
        parts = [*dict.fromkeys(n.id for n in own if n.id not in names)]
        handed = _handed_in(story.project, caller, above[-1], loop, story.name, parts)
        names |= {part: part for part in parts}
        text = in_names_of(shared.module, caller.module, made[0].value, names)
        if text is not None and handed is not None:
            edit = Editor(shared.module).insert_before(head_of(loop), f"{story.name} = {text}")
            title = f"Compute `{story.name}` inside the loop of `{shared.function}`"
            yield recomputed("forward-into-loop", title, edit, *handed)


def in_names_of(module: Module, home: Module, value: ast.expr, names: dict[str, str]) -> str | None:
    """Return an expression of one function in the names of another that receives some of them; None
    if it reads what the other does not have.
    """
    own = own_names(home.scope_of(value))
    editor = Editor(home)
    edits: list[Edit] = []
    for node in nodes_of(value, ast.Name):
        if hasattr(builtins, node.id):
            continue
        if node.id in names:
            edits.append(editor.replace(node, names[node.id]))
        elif module is not home or node.id in own:
            return None
    return text_with(editor, value, edits)


def _handed_in(
    project: Project,
    caller: CallFrame,
    below: CallFrame,
    loop: Loop,
    name: str,
    parts: Sequence[str],
) -> list[Edit] | None:
    """Return edits that turn `run(text)` and its parameter into `run(tower, prompts)`, and remove
    what computed `text` if nothing else reads it; no edit if nothing is to be passed in. Return
    None if the function has other calls, reads the value outside of its loop, or uses these names
    otherwise.
    """
    if not parts:
        return []
    function, call = below.scope, call_into(caller, below.scope)
    if call is None or not isinstance(function, FUNCTIONS[:2]):
        return None
    given = dict(arguments(call, below.module, function)).get(name)
    taken = next((a for a in function.args.args if a.arg == name), None)
    inside = set(walk(loop))
    outside = any(node not in inside for node in names_loaded(walk(function), name))
    if given is None or taken is None or outside or own_names(function) & set(parts):
        return None
    if function.args.defaults or len(calls_to(project, function.name)) != 1:
        return None
    editor = Editor(caller.module)
    keyword = next((k for k in call.keywords if k.value is given), None)
    put = ", ".join(f"{part}={part}" if keyword is not None else part for part in parts)
    alone = len(names_loaded(walk(caller.scope), spelled(given))) == 1
    made = definitions(caller.scope, spelled(given)) if alone else []
    return [
        Editor(below.module).replace(taken, ", ".join(parts)),
        editor.replace(keyword or given, put),
        *editor.delete_all(made),
    ]


_FRESH = "The loss is computed from the weights as the step has left them."


def recompute_where_read(stale: StaleValue) -> Iterator[Proposal]:
    """Yield a proposal that replaces `batch.feature = net(x)` before all phases by `net(batch.x)`
    in the phase that reads it after the step.
    """
    node, backward_call = stale.evidence.node, stale.evidence.reached
    made = stale.saving
    if made is None or backward_call is None or not isinstance(made.statement, ast.Assign):
        return
    target, value = made.statement.targets[0], made.statement.value
    if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Call):
        return
    below = [p for p in backward_call.stack if node and node.at and p.frame > node.at.frame]
    for reader in (resolve_location(stale.project, place) for place in reversed(below)):
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
            title = f"Compute `{spelled(reads[0])}` again where it is read"
            yield Proposal("compute-where-read", title, joined(edits), _FRESH)
        return


def called_again(stale: StaleValue, schedule: StepBeforeBackward) -> Iterator[Proposal]:
    """Yield a proposal that repeats `net.look(shot)`, which fills `shot.feature` before the step,
    after it: then the member is computed with the weights after the step.
    """
    editor, project = schedule.where.editor, stale.project
    for name in _members_read(project, [*schedule.between, schedule.backward]):
        makers = _makers(project, name)
        calls = [call for s in schedule.before for call in own_calls(s, *makers)]
        if calls:
            edit = editor.insert_after(schedule.step, editor.text_of(calls[-1]))
            title = f"Call `{spelled(calls[-1].func)}` again after the step, for `{name}`"
            yield Proposal("fresh-forward", title, (edit,), _FRESH, 1)
            return


def _members_read(project: Project, statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the members of objects that statements, or the functions that they call, read."""
    called = {own_name(n) for s in statements for n in nodes_of(s, ast.Call)}
    functions = [f for name in called - {""} for _, f in project.functions_named(name)]
    names = [name for node in (*statements, *functions) for name in sorted(names_read(node))]
    yield from dict.fromkeys(name for name in names if "." in name)


def _makers(project: Project, name: str) -> set[str]:
    """Return the names of what is called to bind a member: methods, their callers, and modules."""
    found: set[str] = set()
    for module, statement in assignments_to(project, name):
        scope, kind = module.scope_of(statement), module.class_of(statement)
        own = getattr(scope, "name", "__init__")
        if own == "forward" and kind is not None:
            found |= {
                spelled(target).rpartition(".")[2]
                for _, node in project.each(ast.Assign)
                for target, value in assigned_pairs(node)
                if isinstance(value, ast.Call) and own_name(value) == kind.name
            }
        elif own != "__init__":
            found.add(own)
    return {caller for maker in found for caller in functions_calling(project, maker)}


def _reads(reader: SourceLocation, attribute: str) -> list[ast.Attribute]:
    """Return where a function reads an attribute of one object that it knows under one name."""
    found = attributes_loaded(walk_scope(reader.scope), attribute)
    return found if len({spelled(node.value) for node in found}) == 1 else []


def _known_by(
    project: Project, made: SourceLocation, target: ast.Attribute, owner: str
) -> dict[str, str]:
    """Return what the object stores of the names of the function that filled it, as its reader
    spells it.
    """
    held = spelled(target.value)
    names = {held: owner}
    for statement in definitions(made.scope, held):
        if isinstance(call := value_of(statement), ast.Call):
            fields = record_fields(project, spelled(call.func))
            pairs = [*zip(fields, call.args, strict=False)]
            pairs += [(k.arg, k.value) for k in call.keywords if k.arg in fields]
            names |= {v.id: f"{owner}.{f}" for f, v in pairs if isinstance(v, ast.Name)}
    return names | {v: f"{owner}.{f}" for v, f in kept_by(made.scope, held).items()}
