"""The operator *cut*: a carried value goes on as numbers, without its history.

Where: at the boundary that both walks have in common, in the functions that lead to the walk, where
the value is stored, where it is read again, where it enters or leaves a function. Several old
nodes are cut as a set: enough names of one site that each node is behind one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.edits import Edit, EditConflict, Editor
from analyzers.evidence import GraphReuse, Hop, Kind, Place
from analyzers.fixes.blocks import alias, indentation, joined
from analyzers.fixes.rewrite import head_of
from analyzers.flow import backward_calls, first_use, walk_scope
from analyzers.pattern import Proposal
from analyzers.repair.helpers import functions_cutting, methods_cutting
from analyzers.repair.kinds import Writing, carried, has_graph, part_at
from analyzers.repair.names import deque_of, quote_of, replace_of, with_imports
from analyzers.source import FUNCTIONS, Loop, Module, Project, Scope, spelled
from analyzers.stories.passing import frames
from analyzers.stories.shared_frame import Shared, SharedFrame
from analyzers.trees import walk

TRADEOFF = (
    "Each pass learns on its own (truncated BPTT): nothing is learned through earlier passes."
)
MANY = 16  # paths that a hop tells at most: of more, any part may have been carried


@dataclass
class Cutting:
    """One reuse whose path is known, and the project it happened in."""

    reuse: GraphReuse
    project: Project
    stored_first: bool = False

    def proposals(self, rank: int) -> Iterator[Proposal]:
        """Cuts at every kind of site, the most idiomatic first, each with its rank."""
        if self.stored_first:
            yield from self._where_stored(rank)
            rank += 1
        shared = SharedFrame(self.reuse, self.project).shared
        if shared is not None and shared.freed is not None and shared.reached is not None:
            yield from self._at_boundary(shared, rank)
        yield from self._behind_yield(rank + 1)
        yield from self._behind_walk(shared, rank + 2)
        if not self.stored_first:
            yield from self._where_stored(rank + 2)
        yield from self._where_read(rank + 3)
        yield from self._where_entered(rank + 3)
        yield from self._where_returned(rank + 3)

    def _at_boundary(self, shared: Shared, rank: int) -> Iterator[Proposal]:
        """In the frame that both walks have in common: at the head of the loop around them, and
        behind the first walk; else between the two."""
        here = [h for h in self._outlived() if h.at.frame == shared.frame]
        assert shared.freed is not None
        assert shared.reached is not None
        loop = shared.loops[0] if shared.loops else None
        after = walked_behind(shared.module, shared.freed)
        block = [*loop.body] if loop is not None else [shared.reached]
        chosen = self._covering(sorted(here, key=lambda hop: not _goes_on(hop, block)))
        for lines, title in self._written(chosen, shared.module, shared.scope):
            editor = Editor(shared.module)
            if loop is None:
                edit = editor.insert_before(shared.reached, *lines)
                yield self._cut("detach-before-call", f"{title} before the next call", edit, rank)
                continue
            if not any(_unbound_at(loop, shared.scope, hop) for hop in chosen):
                guarded = _guarded(lines, chosen, indentation(shared.module))
                edit = editor.insert_before(head_of(loop), *guarded)
                yield self._cut("detach-at-head", f"{title} at the head of the loop", edit, rank)
            behind = self._bound_behind(chosen, after, shared)
            edit = editor.insert_after(behind, *lines)
            told = f"{title} behind the backward" if behind is after else f"{title} behind it"
            yield self._cut("detach-behind-backward", told, edit, rank + 1)

    def _bound_behind(self, hops: Sequence[Hop], after: ast.stmt, shared: Shared) -> ast.stmt:
        """The walk's last statement, or a later one of its block that gives a name the value that
        the next pass meets."""
        names = {hop.name for hop in hops}
        block = shared.module.block_of(after)
        lines = [
            hop.at.line
            for hop in self.reuse.path
            if hop.how == "bound" and hop.at.frame == shared.frame and hop.name in names
        ]
        later = [s for s in block if s.lineno > after.lineno and any(_covers(s, n) for n in lines)]
        return later[-1] if later else after

    def _behind_yield(self, rank: int) -> Iterator[Proposal]:
        """Where a generator goes on: what it keeps between two passes is its own."""
        known: dict[int, list[Hop]] = {}
        for hop in self.reuse.path:
            if hop.how in ("bound", "argument"):
                known.setdefault(hop.at.frame, []).append(hop)
        for hops in known.values():
            module = self.project.module(hops[0].at.file)
            function = module.function_named(hops[0].at.function) if module is not None else None
            for node in walk_scope(function) if function is not None else ():
                value = getattr(node, "value", None)
                gives = isinstance(node, ast.Expr | ast.Assign) and isinstance(value, ast.Yield)
                if module is None or function is None or not gives:
                    continue
                assert isinstance(node, ast.stmt)
                loops = module.loops_around(node)
                going_on = [h for h in hops if loops and _goes_on(h, [*loops[0].body])]
                for lines, title in self._written(self._covering(going_on), module, function):
                    edit = Editor(module).insert_after(node, *lines)
                    told = f"{title} where `{getattr(function, 'name', '')}` goes on"
                    yield self._cut("detach-behind-yield", told, edit, rank)

    def _behind_walk(self, shared: Shared | None, rank: int) -> Iterator[Proposal]:
        """In the functions between that frame and the walk: behind what walks there, for what
        outlives them."""
        for frame in reversed(frames(self.project, self.reuse.freed)):
            if shared is not None and frame.place.frame == shared.frame:
                return
            own = [h for h in self._outlived() if h.at.frame == frame.place.frame]
            kept = [h for h in own if not _is_local(h, frame.scope) or "." in h.name]
            chosen = self._covering(kept)
            for lines, title in self._written(chosen, frame.module, frame.scope):
                after = walked_behind(frame.module, frame.statement)
                edit = Editor(frame.module).insert_after(after, *lines)
                yield self._cut(
                    "detach-behind-backward", f"{title} behind the backward", edit, rank
                )

    def _where_stored(self, rank: int) -> Iterator[Proposal]:
        """What is stored, cut as it is stored: `self.h = h.detach()`, `xs.append(h.detach())`."""
        edits: dict[int, list[Edit]] = {}
        told: list[str] = []
        for hop in self.reuse.path:
            module = self.project.module(hop.at.file)
            statement = module.statement_at(hop.at.line) if module is not None else None
            if module is None or statement is None or hop.how != "bound":
                continue
            for value, kind, whole in _stores(statement, hop):
                made = self._replaced(module, value, kind) if whole else []
                if not whole:
                    name = Editor(module).text_of(value)
                    lines = self._writing(module).statements(name, kind)
                    made = [Editor(module).insert_after(statement, *lines)] if lines else []
                if made:
                    told.append(hop.name)
                    for join in hop.carries:
                        edits.setdefault(join, []).extend(made)
        if edits:
            title = " and ".join(f"`{name}`" for name in dict.fromkeys(told))
            together = [edit for made in edits.values() for edit in made]
            yield from self._edited(
                "detach-when-stored", f"Detach what {title} stores", together, rank
            )

    def _where_read(self, rank: int) -> Iterator[Proposal]:
        """The expressions that read the old values, each cut where it stands."""
        edits: list[Edit] = []
        for at in dict.fromkeys(j.new.at for j in self.reuse.joins if j.new and j.new.at):
            module = self.project.module(at.file)
            statement = module.statement_at(at.line) if module is not None else None
            if module is None or statement is None:
                continue
            known = {
                path: kind
                for hop in self.reuse.path
                if _is_seen(hop, at, module.scope_of(statement)) and hop.how != "returned"
                for path, kind in _spellings(hop)
            }
            for node, kind in _outermost(statement, known):
                edits += self._replaced(module, node, kind)
        if edits:
            yield from self._edited("detach-where-read", "Detach what is read again", edits, rank)

    def _where_entered(self, rank: int) -> Iterator[Proposal]:
        """At the head of a function that is given all of it."""
        entered: dict[int, list[Hop]] = {}
        for hop in self.reuse.path:
            if hop.how == "argument" and hop.name.isidentifier():
                entered.setdefault(hop.at.frame, []).append(hop)
        for hops in entered.values():
            module = self.project.module(hops[0].at.file)
            function = module.function_named(hops[0].at.function) if module is not None else None
            if module is None or not isinstance(function, ast.FunctionDef):
                continue
            chosen = [h for h in self._covering(hops) if _is_parameter(h, function)]
            for lines, title in self._written(chosen, module, function):
                guarded = _guarded(lines, chosen, indentation(module))
                edit = Editor(module).insert_before(head_of(function), *guarded)
                yield self._cut("detach-on-entry", f"{title} in `{function.name}`", edit, rank)

    def _where_returned(self, rank: int) -> Iterator[Proposal]:
        """In the tuple that a function returns: `return out, h.detach()`."""
        for hop in self.reuse.path:
            module = self.project.module(hop.at.file)
            statement = module.statement_at(hop.at.line) if module is not None else None
            if hop.how != "returned" or module is None or not isinstance(statement, ast.Return):
                continue
            value, below = statement.value, carried(hop.kind, hop.paths)
            if isinstance(value, ast.Tuple) and len(value.elts) == len(below.parts):
                pairs = list(zip(value.elts, below.parts, strict=True))[1:]
                edits = [e for n, (_, part) in pairs for e in self._replaced(module, n, part)]
                name = hop.at.function.rpartition(".")[2]
                if edits:
                    title = f"Detach what `{name}` hands on"
                    yield from self._edited("detach-when-returned", title, edits, rank)

    def _outlived(self) -> list[Hop]:
        return [hop for hop in self.reuse.path if hop.how == "outlived"]

    def _covering(self, hops: Sequence[Hop]) -> list[Hop]:
        """Enough of the names that each node that any of them holds is behind one of them; none
        where some old value has no name here."""
        wanted = {join for hop in self.reuse.path for join in hop.carries}
        chosen: list[Hop] = []
        for hop in hops:
            if not set(hop.carries) <= {join for other in chosen for join in other.carries}:
                chosen.append(hop)
        covered = {join for hop in chosen for join in hop.carries}
        return chosen if covered >= wanted else []

    def _written(
        self, hops: Sequence[Hop], module: Module, scope: Scope
    ) -> Iterator[tuple[list[str], str]]:
        """Statements that cut all of these names: by the script's own means, then written out."""
        if not hops:
            return
        title = "Detach " + " and ".join(f"`{hop.name}`" for hop in hops)
        writing = self._writing(module)
        for helper in functions_cutting(module, self.project)[:2]:
            if all(_rebinds(hop, scope) for hop in hops):
                names = [writing.path(hop.name) for hop in hops]
                yield [f"{name} = {helper}({name})" for name in names], f"{title} by `{helper}`"
        if len(hops) == 1:
            for call in list(dict.fromkeys(methods_cutting(hops[0], self.project)))[:2]:
                if not call.startswith(f"{hops[0].name} =") or _rebinds(hops[0], scope):
                    yield [call], title
        lines = [
            writing.statements(writing.path(h.name), _carried(h), rebind=_rebinds(h, scope))
            for h in hops
        ]
        written = [line for made in lines for line in made or ()]
        if all(lines):
            self._needed = writing.needs
            step = indentation(module)
            yield [line.replace("\t", step) for line in written], title
            self._needed = set()

    _needed: frozenset[str] | set[str] = frozenset()

    def _writing(self, module: Module) -> Writing:
        return Writing(
            quote_of(module),
            replace_of(module),
            deque_of(module),
            alias(module, "torch"),
        )

    def _replaced(self, module: Module, node: ast.expr, kind: Kind) -> list[Edit]:
        """The expression cut where it stands, or the elements of a tuple that is written out."""
        editor, writing = Editor(module), self._writing(module)
        if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(kind.parts):
            pairs = zip(node.elts, kind.parts, strict=True)
            return [e for n, (_, part) in pairs for e in self._replaced(module, n, part)]
        if not has_graph(kind):
            return []
        if kind.kind == "tensor":
            return [editor.append_to(node, ".detach()")]
        text = writing.expression(editor.text_of(node), kind)
        return [editor.replace(node, text), *with_imports(module, writing)] if text else []

    def _cut(self, strategy: str, title: str, edit: Edit, rank: int) -> Proposal:
        module = self.project.module(edit.path)
        assert module is not None
        writing = self._writing(module)
        writing.needs |= self._needed
        edits = (edit, *with_imports(module, writing))
        return Proposal(strategy, title, edits, "truncated", TRADEOFF, rank)

    def _edited(
        self, strategy: str, title: str, edits: Sequence[Edit], rank: int
    ) -> Iterator[Proposal]:
        yield Proposal(strategy, title, joined(edits), "truncated", TRADEOFF, rank)


def cuts(
    reuse: GraphReuse, project: Project, rank: int = 0, *, stored_first: bool = False
) -> Iterator[Proposal]:
    """Every cut along the path that a run has seen; none where no run has."""
    if reuse.path and reuse.engine == "torch":
        try:
            yield from Cutting(reuse, project, stored_first).proposals(rank)
        except EditConflict:
            return


def at_boundary(proposals: Sequence[Proposal]) -> bool:
    """Whether one of the cuts lies between two passes, where it leaves each pass whole."""
    return any(proposal.strategy in _BETWEEN for proposal in proposals)


_BETWEEN = ("detach-at-head", "detach-behind-backward", "detach-before-call", "detach-behind-yield")


def walked_behind(module: Module, walk_: ast.stmt) -> ast.stmt:
    """The last statement of the same block that walks a graph or steps, from this one on."""
    block = module.block_of(walk_)
    last = walk_
    for statement in block[block.index(walk_) :] if walk_ in block else []:
        steps = isinstance(statement, ast.Expr) and any(
            isinstance(n, ast.Attribute) and n.attr == "step" for n in walk(statement)
        )
        if steps or backward_calls(statement):
            last = statement
    return last


def _covers(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _goes_on(hop: Hop, block: list[ast.stmt]) -> bool:
    """Whether the next pass reads the name before it gives it another value."""
    return "." in hop.name or first_use(block, hop.name.partition("[")[0]) == "read"


def _unbound_at(loop: Loop, scope: Scope, hop: Hop) -> bool:
    """Whether the first pass may come to the head of the loop before the name has any value."""
    root = hop.name.partition(".")[0].partition("[")[0]
    stored = [
        node
        for node in walk(scope)
        if (isinstance(node, ast.Name) and node.id == root and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == root)
    ]
    inside = set(walk(loop))
    return bool(stored) and all(node in inside for node in stored)


def _guarded(lines: list[str], hops: Sequence[Hop], step: str) -> list[str]:
    """The lines under `if x is not None:` where the first pass finds None."""
    missing = [hop.name for hop in hops if hop.none_before]
    if not missing:
        return lines
    asked = " and ".join(f"{name} is not None" for name in missing)
    return [f"if {asked}:", *(f"{step}{line}" for line in lines)]


def _carried(hop: Hop) -> Kind:
    """What a hop's name stands for, with a graph only where it leads to what was carried."""
    paths = [path.removeprefix(hop.name) for path in hop.paths]
    return carried(hop.kind, paths) if len(paths) < MANY else hop.kind


def _is_local(hop: Hop, scope: Scope) -> bool:
    """Whether the function itself gives the name its values."""
    if not isinstance(scope, FUNCTIONS):
        return True
    outer = {
        name
        for node in walk(scope)
        if isinstance(node, ast.Nonlocal | ast.Global)
        for name in node.names
    }
    root = hop.name.partition(".")[0].partition("[")[0]
    return root not in outer and any(
        (isinstance(node, ast.Name) and node.id == root and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == root)
        for node in walk(scope)
    )


def _rebinds(hop: Hop, scope: Scope) -> bool:
    """Whether an assignment to the name reaches what the next pass reads."""
    if "." in hop.name or "[" in hop.name or _is_local(hop, scope):
        return True
    return any(
        isinstance(node, ast.Nonlocal | ast.Global) and hop.name in node.names
        for node in walk(scope)
    )


def _is_parameter(hop: Hop, function: ast.FunctionDef) -> bool:
    given = function.args
    return any(a.arg == hop.name for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))


_STORING = ("append", "appendleft", "add", "put", "push", "insert", "extend")


def _stores(statement: ast.stmt, hop: Hop) -> Iterator[tuple[ast.expr, Kind, bool]]:
    """The values that a statement stores under what the hop names, with what they are; where a
    value is a part of what is taken apart, the target instead, and False."""
    for target, value in _assignments(statement):
        kind = _stored_kind(target, hop)
        if kind is not None:
            yield value or target, kind, value is not None
    if isinstance(statement, ast.AugAssign) and spelled(statement.target) == hop.name:
        if hop.kind.kind == "tensor":
            yield statement.value, hop.kind, True
    for call in walk(statement):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr in _STORING and spelled(call.func.value) == hop.name and call.args:
                held = [part for _, part in hop.kind.parts if has_graph(part)]
                whole = [hop.kind] if call.func.attr == "extend" else held[-1:]
                yield from ((call.args[-1], kind, True) for kind in whole)


def _stored_kind(target: ast.expr, hop: Hop) -> Kind | None:
    """What a target gets, if it is what the hop names, an attribute, or an entry of it."""
    name = spelled(target)
    if name == hop.name and "." in name:
        return hop.kind
    if isinstance(target, ast.Subscript) and spelled(target.value) == hop.name:
        path = hop.paths[0].removeprefix(hop.name)
        return part_at(hop.kind, path[: path.find("]") + 1])
    if isinstance(target, ast.Attribute) and spelled(target.value) == hop.name:
        return part_at(hop.kind, f".{target.attr}")
    return None


def _assignments(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each target with its value; without one where a value is taken apart."""
    if not isinstance(statement, ast.Assign):
        return
    value = statement.value
    for target in statement.targets:
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
        elif isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield from ((element, None) for element in target.elts)


def _is_seen(hop: Hop, at: Place, scope: Scope) -> bool:
    """Whether a frame sees the name: it is its own, or one of the module's or of a closure."""
    if hop.at.frame == at.frame:
        return True
    inner = at.function.startswith(f"{hop.at.function}.<locals>.")
    return (hop.at.function == "<module>" or inner) and not _is_local(hop, scope)


def _spellings(hop: Hop) -> Iterator[tuple[str, Kind]]:
    """A hop's name, and the paths below it that are expressions, with what each stands for."""
    yield hop.name, hop.kind
    for path in hop.paths:
        kind = part_at(hop.kind, path.removeprefix(hop.name))
        if kind is not None and "…" not in path:
            yield path, kind


def _outermost(statement: ast.stmt, known: dict[str, Kind]) -> list[tuple[ast.expr, Kind]]:
    """The longest expressions of a statement that read something known, with what they are."""
    found: list[tuple[ast.expr, Kind]] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        kind = _kind_of(node, known) if is_read and isinstance(node, ast.expr) else None
        if kind is not None and isinstance(node, ast.expr):
            found.append((node, kind))
        elif not isinstance(node, FUNCTIONS) or isinstance(node, ast.Lambda):
            todo += [child for child in ast.iter_child_nodes(node) if not _is_body(node, child)]
    return found


def _kind_of(node: ast.expr, known: dict[str, Kind]) -> Kind | None:
    """What an expression reads, if it spells something known or takes a part of it."""
    kind = known.get(spelled(node))
    if kind is None and isinstance(node, ast.Subscript):
        whole = _kind_of(node.value, known)
        kind = next((part for _, part in whole.parts if has_graph(part)), None) if whole else None
    if kind is None and isinstance(node, ast.Attribute):
        whole = _kind_of(node.value, known)
        kind = part_at(whole, f".{node.attr}") if whole is not None else None
    return kind


def _is_body(node: ast.AST, child: ast.AST) -> bool:
    """Whether the child is a statement within another: it has a line of its own."""
    return isinstance(node, ast.stmt) and isinstance(child, ast.stmt | ast.excepthandler)
