"""What a reuse of a graph looks like, in the terms that tell the patterns apart.

A story is read off the evidence first; the source only says how the names in it are bound and
used. Nothing here looks for an error: that one happened is given.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.keeping import (
    adds_up,
    arms,
    fresh_names,
    interpolates,
    is_average,
    queued,
    sums,
    taken_from,
)
from analyzers.explain.reuse.lifetimes import base
from analyzers.explain.reuse.occasions import binds_nothing, constructs, only_when_missing
from analyzers.explain.reuse.passing import handed_down
from analyzers.explain.reuse.walks import SUMMING, Walks
from analyzers.source.flow import (
    bindings,
    called_name,
    calls_in,
    declared_outer,
    feeding,
    mentions,
    part_for,
    value_of,
    walk_scope,
    walked,
)
from analyzers.source.project import FUNCTIONS, Function, Module, Project, Scope, spelled
from analyzers.source.trees import remembered, walk


class Story(Walks):
    """The lifetime of a reused graph with the features by which patterns are recognised."""

    def of_each_carrier(self) -> Iterator[Story]:
        """The same story, told of each name that carried an old graph."""
        for carrier in self.carriers:
            story = Story(self.reuse, self.project)
            others = [c for c in self.carriers if c is not carrier]
            story.__dict__["carriers"] = (carrier, *others)
            yield story

    @cached_property
    def binders(self) -> list[tuple[Module, Scope, ast.stmt]]:
        """Statements that give the carrier its value: in the shared frame; for a module's name,
        stores into it from any function; for an attribute, in any function."""
        found = [
            (module, scope, node)
            for module, scope, name in self._homes
            for node in walk_scope(scope)
            if isinstance(node, ast.stmt) and name in bindings(node)
        ]
        found += [binder for binder in self._seen_storing if binder[2] not in [b[2] for b in found]]
        known = {id(binder[2]) for binder in found}
        for module in self.project.modules.values():
            found += [
                (module, function, node)
                for function, node in _bound_in_functions(module.tree).get(
                    self.attribute or self.name, ()
                )
                if id(node) not in known and self._binds_elsewhere(function, node)
            ]
        return found

    @property
    def _seen_storing(self) -> Iterator[tuple[Module, Scope, ast.stmt]]:
        """Statements of other functions that were seen to put an old value into the carrier's
        container, under whatever name they know it."""
        kept = [h for h in self.reuse.path if h.how == "outlived" and base(h.name) == self.name]
        for hop in self.reuse.path if kept and self.shared is not None else ():
            statement, module = self._statement(hop.at), self.project.module(hop.at.file)
            same = hop.kind.kind == kept[0].kind.kind and set(hop.carries) & set(kept[0].carries)
            if hop.how == "bound" and same and isinstance(statement, ast.Expr) and module:
                if hop.at.frame != kept[0].at.frame and hop.name in bindings(statement):
                    yield module, module.scope_of(statement), statement

    @cached_property
    def _homes(self) -> list[tuple[Module, Scope, str]]:
        """The functions that have the carrier under a plain name, with that name: the shared
        frame's; else those that hand it down, the one where it was found, the one that made it."""
        shared = self.shared
        if shared is None or not self.name:
            return []
        homes: list[tuple[Module, Scope, str]] = [(shared.module, shared.scope, self.name)]
        if self.attribute or _binds(shared.scope, self.name):
            return homes
        for caller, argument in handed_down(self.above, self.name):
            homes.append((caller.module, caller.scope, spelled(argument)))
        known = [scope for _, scope, _ in homes]
        held = [self.holder.scope] if self.holder is not None else []
        for name in dict.fromkeys((*held, self.carriers[0].place.function)):
            for module, scope in self._functions_named(name):
                homes += [(module, scope, self.name)] if scope not in known else []
        for module in self.project.modules.values():
            if shared.scope is not module.tree and _binds(module.tree, self.name):
                homes.append((module, module.tree, self.name))
        return homes

    def _binds_elsewhere(self, function: ast.AST, statement: ast.stmt) -> bool:
        """Whether a statement of another function gives the carrier its value."""
        names = bindings(statement)
        if self.attribute:
            return any(n == self.attribute or n.endswith("." + self.attribute) for n in names)
        if self.shared is None or self.name not in names:
            return False
        if self.name in declared_outer(function):
            return True
        if any(_is_own(scope, self.name) for scope in (self.shared.scope, function)):
            return False
        return any(n.startswith(self.name + "[") for n in names) or isinstance(statement, ast.Expr)

    @cached_property
    def hands_on(self) -> bool:
        """Whether a name hands one tensor on from pass to pass."""
        if self.same_pass or self.from_grad or not self.name or self.each_of_many:
            return False
        return not self.sliced or self.reuse.remade

    @cached_property
    def bound_inside(self) -> bool:
        """Whether the carrier gets a new value in the passes between the two calls."""
        if self.shared is None:
            return True
        giving = [binder for binder in self.binders if not binds_nothing(binder[2])]
        return not self.binders or any(self.binds_inside(*binder) for binder in giving)

    def binds_inside(self, module: Module, scope: Scope, statement: ast.stmt) -> bool:
        """Whether a binder of the carrier runs in the passes between the two calls."""
        if self.shared is not None and scope is self.shared.scope:
            return self.loop is None or module.holds(self.loop, statement)
        if self.ran_before(scope):
            return False
        name = self.attribute
        return not name or not only_when_missing(self.project, statement, name)

    def ran_before(self, scope: Scope) -> bool:
        """Whether what a function binds was there before the loop began: it called the loop's
        function, it made an object, it is the factory of closures, or was called in front."""
        if self.is_outer(scope) or isinstance(scope, ast.Module):
            return True
        if constructs(self.project, scope) or self._is_factory(scope):
            return True
        return self._called_in_front(scope)

    def _called_in_front(self, scope: Scope) -> bool:
        """Whether every call of a function stands outside the loop, in its function or in those
        that called it, and none of them is on the way to the walk. A generator goes on later."""
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk_scope(scope)):
            return False
        around = [frame.scope for frame in self.above]
        running = [self.loop, *(frame.statement for frame in self.above)]
        calls = [
            (module, call)
            for module in self.project.modules.values()
            for call in calls_in(module.tree).get(getattr(scope, "name", ""), ())
        ]
        return bool(calls and self.loop) and all(
            module.scope_of(call) in around and not any(module.holds(r, call) for r in running)
            for module, call in calls
        )

    def _is_factory(self, scope: Scope) -> bool:
        """Whether a function only binds the carrier for the functions that it makes, and the loop
        does not call it again."""
        inner = [n for n in walk_scope(scope) if isinstance(n, FUNCTIONS) and n is not scope]
        reading = any(mentions(n, self.name) for n in inner if self.name not in declared_outer(n))
        name = getattr(scope, "name", "")
        calls = walk(self.loop) if self.loop is not None else []
        return reading and not any(
            isinstance(n, ast.Call) and called_name(n) == name for n in calls
        )

    @cached_property
    def cached(self) -> bool:
        """Whether the carrier is filled only where it is missing."""
        return any(
            only_when_missing(self.project, statement, self.attribute)
            for _, _, statement in self.binders
            if self.attribute
        )

    @cached_property
    def self_fed(self) -> bool:
        """Whether the carrier's next value is computed from its last (a recurrence). What ran in
        front of the loop made its first."""
        feeders = [*self.binders, *self._assigned_by_property]
        return any(
            self._feeds(scope, statement)
            for module, scope, statement in feeders
            if not self._in_front_of_loop(module, scope, statement)
        )

    def _in_front_of_loop(self, module: Module, scope: Scope, statement: ast.stmt) -> bool:
        own = self.shared is not None and scope is self.shared.scope
        return own and self.loop is not None and not module.holds(self.loop, statement)

    def _feeds(self, scope: Scope, statement: ast.stmt) -> bool:
        value = part_for(statement, self._is_carrier) or put_in(statement)
        if value is None:
            return False
        old = self._with_parts(scope)
        fresh = fresh_names(value, old, scope)
        return any(self._is_carrier(name) for name in sources(scope, statement, fresh))

    def _with_parts(self, scope: Scope) -> Callable[[str], bool]:
        """What stands for the carrier in a function, or for a part of it: `kept = queue[8:]`,
        `old = scales.get(key)`."""
        parts = {
            name
            for whole, taken in taken_from(scope).items()
            if self._is_carrier(whole)
            for value, names in taken
            if not self._is_carrier(value)
            for name in names
        }
        return lambda name: name in parts or self._is_carrier(name)

    def _is_carrier(self, name: str) -> bool:
        """Whether a name, in whatever function, stands for the carrier."""
        if self.attribute:
            last = name.rpartition(".")[2]
            return name == self.name or (
                "." in name and (last == self.attribute or last in self._properties)
            )
        return name == self.name

    @cached_property
    def _properties(self) -> set[str]:
        """Names of properties whose setter stores into the carrier."""
        return {
            scope.name
            for _, scope, _ in self.binders
            if isinstance(scope, ast.FunctionDef)
            and any(spelled(d) == f"{scope.name}.setter" for d in scope.decorator_list)
        }

    @cached_property
    def _assigned_by_property(self) -> list[tuple[Module, Scope, ast.stmt]]:
        """Statements that give the carrier its value through a property."""
        return [
            (module, module.scope_of(node), node)
            for module in (self.project.modules.values() if self._properties else ())
            for node in walk(module.tree)
            if isinstance(node, ast.stmt)
            and any("." in n and n.rpartition(".")[2] in self._properties for n in bindings(node))
        ]

    @cached_property
    def averaged(self) -> bool:
        """Whether the carrier is a running average with plain coefficients (an EMA)."""
        return any(
            is_average(arm, self._with_parts(scope), scope)
            for _, scope, statement in self.binders
            if (value := value_of(statement)) is not None
            for arm in arms(value)
        ) or any(
            interpolates(statement, self.attribute or self.name) for _, _, statement in self.binders
        )

    @cached_property
    def stored(self) -> bool:
        """Whether the carrier is kept by being put into a container."""
        return any(
            isinstance(statement, ast.Expr)
            or any("[" in spelled(t) for t in getattr(statement, "targets", []))
            or (
                (value := value_of(statement)) is not None
                and queued(value, self._with_parts(scope), scope)
            )
            for _, scope, statement in self.binders
        )

    def _puts_on(self, scope: Scope, statement: ast.stmt) -> bool:
        """Whether a statement makes the carrier of its old value and something put on."""
        value = value_of(statement)
        return value is not None and queued(value, self._with_parts(scope), scope)

    @cached_property
    def summed(self) -> bool:
        """Whether the failing call walks a total that the carrier is, or is summed into."""
        join = self.join
        if join is None:
            return False
        if not self._is_scalar or not self.bound_inside:
            return False
        new = join.new.op if join.new is not None else ""
        is_root = self.name in self.root_names or any(
            sums(value, self.name) for value in self._root_values
        )
        return (new.startswith(SUMMING) and is_root) or any(
            adds_up(statement, self._is_carrier, scope) and (is_root or not self.averaged)
            for _, scope, statement in self.binders
        )

    @cached_property
    def _is_scalar(self) -> bool:
        """Whether all that was found under the carrier's name are single numbers, as losses are."""
        shapes = [
            join.shape
            for join in self.reuse.joins
            if join is self.join or any(base(h.path) == self.name for h in join.holders)
        ]
        return all(shape in ((), (1,)) for shape in shapes)

    @cached_property
    def _root_values(self) -> list[ast.expr]:
        """The expressions that the walked tensor is made by, in the shared frame."""
        values = [walked(self.root_call)] if self.root_call is not None else []
        if self.shared is not None:
            values += [
                value_of(node)
                for node in walk_scope(self.shared.scope)
                if isinstance(node, ast.stmt) and self.root_names & set(bindings(node))
            ]
        return [value for value in values if value is not None]

    @cached_property
    def same_consumer(self) -> bool:
        """Whether both losses hand the carrier to one and the same network (`D(fake)`)."""
        if self.shared is None or not self.name:
            return False
        called = [
            spelled(node.func)
            for node in walk_scope(self.shared.scope)
            if isinstance(node, ast.Call)
            and any(_undetached(argument, self.name) for argument in node.args)
        ]
        return len(called) > len(set(called))


def _is_own(scope: ast.AST, name: str) -> bool:
    """Whether a function has the name for itself: an argument, or a name that it gives a value."""
    if not isinstance(scope, FUNCTIONS):
        return False
    given = scope.args
    if any(a.arg == name for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)):
        return True
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk_scope(scope)
    )


def _binds(scope: Scope, name: str) -> bool:
    """Whether a statement of the scope itself binds the name."""
    return any(isinstance(s, ast.stmt) and name in bindings(s) for s in walk_scope(scope))


@remembered
def _bound_in_functions(tree: ast.Module) -> dict[str, list[tuple[Function, ast.stmt]]]:
    """For the last part of each name or attribute path that a function binds: the function and
    the statement."""
    found: dict[str, list[tuple[Function, ast.stmt]]] = {}
    for function in walk(tree):
        if isinstance(function, FUNCTIONS[:2]):
            for node in walk_scope(function):
                if isinstance(node, ast.stmt):
                    for last in {name.rpartition(".")[2] for name in bindings(node)}:
                        found.setdefault(last, []).append((function, node))
    return found


def put_in(statement: ast.stmt) -> ast.expr | None:
    """What a statement puts into a container: `y` of `xs.append(y)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return call.args[-1] if isinstance(call, ast.Call) and call.args else None


def _undetached(argument: ast.expr, name: str) -> bool:
    return spelled(argument) == name


def sources(scope: Scope, statement: ast.stmt, wanted: set[str]) -> set[str]:
    """Names that flow into the wanted ones through the scope's own assignments."""
    feeds = feeding(scope)
    found, new = set(wanted), set(wanted)
    for _ in range(8):
        given = [fed for name in new for fed in feeds.get(name, ())]
        new = {name for node, read in given if node is not statement for name in read} - found
        if not new:
            break
        found |= new
    return found


def story_of(evidence: object, project: Project) -> Story | None:
    """The story of a reuse, the same for all who ask; None for other evidence."""
    if not isinstance(evidence, GraphReuse):
        return None
    key = (Story, id(evidence))  # stays its own: the story that is kept holds the evidence
    story = project.kept.get(key)
    if not isinstance(story, Story):
        story = project.kept[key] = Story(evidence, project)
    return story
