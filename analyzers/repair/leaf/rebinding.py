"""Fix `w = w - lr * w.grad`: update the same leaf, or make a new one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.listed import said
from analyzers.explain.missing import element_of, updates_returned
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.explain.source_locations import SourceLocation
from analyzers.explain.target_networks import runs_again
from analyzers.repair.blocks import indentation, joined, missing_import, rewritten, wrapped
from analyzers.repair.leaf.leaves import clears, in_place_of, loop_of, no_grad_header
from analyzers.source.callees import in_library, is_call
from analyzers.source.flow import bindings, is_dotted, mentions, rebinds, run_around, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.targets import assigned_pairs, target_names
from analyzers.source.trees import nodes_of, position

_COMPREHENSIONS = (ast.ListComp, ast.DictComp)
UNMOVED = "unmoved-leaves"
HELD = "unfed-parameters"
"""The kinds of silent faults: leaves never move; an optimizer holds other tensors."""


def updates_of(evidence: Evidence, project: Project) -> Iterator[SourceLocation]:
    """Yield the statements that rebind the name of a leaf to a new tensor: without any error, or
    so that the graph of one update hangs on the next.
    """
    story = story_of(evidence, project)
    if story is not None:
        yield from _projections(story)
    elif isinstance(evidence, SilentFault) and evidence.kind == UNMOVED:
        yield from _names_updated(evidence, project)
    elif isinstance(evidence, SilentFault) and evidence.kind == HELD and evidence.optimizer_at:
        yield from leaves_renewed(evidence, project)


def leaf_kept(where: SourceLocation, *, held: bool = False) -> Iterator[Proposal]:
    """Yield a proposal with the run of updates in place, under `no_grad`, and the gradients cleared
    after it, unless an optimizer, by which the leaves are `held`, clears them.
    """
    yield from _handed_back(where)
    run, editor = _run(where) or ([where.statement] if held else []), where.editor
    edits = [e for statement in run if (e := in_place_of(editor, statement)) is not None]
    if not run or len(edits) < len(run):
        return
    pairs = [pair for statement in run for pair in assigned_pairs(statement)]
    leaves = dict.fromkeys(spelled(t) for t, v in pairs if not isinstance(v, _COMPREHENSIONS))
    loops = [p for p in where.module.ancestors(where.statement) if isinstance(p, ast.For)]
    own = {
        name for loop in loops for name in target_names(loop.target)
    }  # who clears any clears all
    cleared = [
        f"{name}.grad = None"
        for name in leaves
        if not (held or clears(where.scope, "" if name in own else name))
    ]
    if any("no_grad" in spelled(s.items[0]) for s in _around(where)):
        edits += [editor.insert_after(run[-1], *cleared)] if cleared else []
    else:
        edit = wrapped(editor, run, no_grad_header(where.module), edits, cleared)
        if edit is None:
            return
        edits = [edit, *missing_import(editor)]
    title = f"Update {said(spelled(target) for target, _ in pairs)} in place, under `no_grad`"
    yield Proposal("update-in-place", title, joined(edits))


def _names_updated(fault: SilentFault, project: Project) -> Iterator[SourceLocation]:
    """Yield where a loop rebinds its own variable to a value computed from it and its gradient, and
    does not use it further: `for p in params: p = p - lr * p.grad`.
    """
    seen = fault.seen_at
    for module, loop in project.each(ast.For):
        own = set(target_names(loop.target))
        for statement in loop.body if seen is None or seen.file == module.path else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as value):
                    read = {spelled(n) for n in nodes_of(value, ast.Attribute)}
                    updates = name in own and mentions(value, name) and f"{name}.grad" in read
                    if updates and not _read_on(module, loop, statement, name):
                        yield SourceLocation.of(module, statement)


def leaves_renewed(fault: SilentFault, project: Project) -> Iterator[SourceLocation]:
    """Yield where a loop rebinds the name of a leaf that an optimizer holds to a value computed
    from it, or the name of their container to one of new tensors. An object's own method may do so.
    """
    leaves = set(fault.params) & set(fault.instead)
    leaves |= {f"self.{name.rpartition('.')[2]}" for name in leaves if "." in name}
    owners = {name.partition("[")[0] for name in leaves}
    for module, statement in project.each(ast.Assign):
        for target, value in assigned_pairs(statement):
            kept = spelled(target).partition("[")[0]
            several = isinstance(target, ast.Subscript) or isinstance(value, _COMPREHENSIONS)
            renewed = kept in owners if several else spelled(target) in leaves
            if renewed and kept in made_of(module.scope_of(statement), value):
                if runs_again(module, statement, project):
                    yield SourceLocation.of(module, statement)


def _projections(story: ReuseFeatures) -> Iterator[SourceLocation]:
    """Yield where the name of a leaf that an optimizer holds is rebound to a value computed from
    that leaf alone: `self.h = self.h.clamp(0, self.top)`.
    """
    if not any(edge.rebound for edge in story.reuse.stale_edges):
        return
    for module, _, statement in story.binders:
        for target, value in assigned_pairs(statement):
            name = spelled(target)
            made = isinstance(value, ast.Call) and in_library(value)
            of_it = isinstance(value, ast.Call) and spelled(value.func).startswith(f"{name}.")
            if rebinds(statement, name) and (made or of_it or isinstance(value, ast.BinOp)):
                yield SourceLocation.of(module, statement)


def _read_on(module: Module, loop: ast.For, statement: ast.stmt, name: str) -> bool:
    """Return True if anything reads the name after a statement of a loop, or after the loop."""
    later = loop.body[loop.body.index(statement) + 1 :]
    if any(mentions(one, name) for one in later):
        return True
    end = (loop.end_lineno or loop.lineno, 0)
    reads = names_loaded(walk_scope(module.scope_of(loop)), name)
    return any(position(node) > end and not _bound_again(module, node) for node in reads)


def _bound_again(module: Module, node: ast.Name) -> bool:
    """Return True if a loop or a comprehension around a name binds it."""
    for parent in module.ancestors(node):
        around = [parent] if isinstance(parent, ast.For) else getattr(parent, "generators", ())
        if any(node.id in set(target_names(one.target)) for one in around):
            return True
    return False


def _around(where: SourceLocation) -> list[ast.With]:
    return [p for p in where.module.ancestors(where.statement) if isinstance(p, ast.With)]


def _handed_back(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal with a loop that updates the leaves in place and returns the original
    container.
    """
    value = updates_returned(where.statement)
    lines = loop_of(where.editor, value) if value is not None else []
    source = value.generators[0].iter if value is not None else None
    if isinstance(source, ast.Call) and is_call(source, "list.items"):
        source = source.func.value if isinstance(source.func, ast.Attribute) else None
    if not lines or source is None or not is_dotted(source):
        return
    leaves, step = spelled(source), indentation(where.module)
    body = [no_grad_header(where.module), *(step + line for line in lines), f"return {leaves}"]
    edits = (rewritten(where.editor, [where.statement], body), *missing_import(where.editor))
    title = f"Update `{leaves}` in place, under `no_grad`"
    yield Proposal("update-in-place", title, edits)


def _run(where: SourceLocation) -> list[ast.stmt]:
    """Return the adjacent statements that rebind names to values computed from themselves."""
    alike = [s for s in where.block if any(rebinds(s, name) for name in bindings(s))]
    return run_around(where.module, where.statement, alike) if where.statement in alike else []


def leaf_again(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that makes the new tensor a leaf."""
    run = _run(where) or [where.statement]
    returned = updates_returned(where.statement)
    last = {spelled(target): value for s in run for target, value in assigned_pairs(s)}
    made = [value.elt if isinstance(value, ast.ListComp) else value for value in last.values()]
    made += [element_of(returned)] if returned is not None else []
    if made:
        edits = tuple(where.editor.append_to(v, ".detach().requires_grad_()") for v in made)
        title = "Make the new tensor a leaf that requires grad"
        yield Proposal("new-leaf", title, edits, "", 1)
