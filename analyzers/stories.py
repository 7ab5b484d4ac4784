"""What a reuse of a graph looks like, in the terms that tell the patterns apart.

A story is read off the evidence first; the source only says how the names in it are bound and
used. Nothing here looks for an error: that one happened is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from analyzers.evidence import GraphReuse
from analyzers.flow import (
    backward_calls,
    bindings,
    call_on_line,
    called_name,
    mentions,
    names_read,
    value_of,
    walk_scope,
    walked,
)
from analyzers.keeping import adds_up, fresh_names, interpolates, is_average, queued
from analyzers.lifetimes import Lifetime
from analyzers.rewrite import steps
from analyzers.source import FUNCTIONS, Loop, Module, Project, Scope, spelled, target_names

_SUMMING = ("Add", "Stack", "Cat", "Sum", "Mean")
_SLICING = ("Select", "Slice", "Index", "Unbind", "Split", "Chunk", "Narrow", "Gather", "Squeeze")


class Story(Lifetime):
    """The lifetime of a reused graph with the features by which patterns are recognised."""

    @cached_property
    def name(self) -> str:
        """The first carrier's name; empty when the tensor had none."""
        return self.carriers[0].name if self.carriers else ""

    def of_each_carrier(self) -> Iterator[Story]:
        """The same story, told of each name that carried an old graph."""
        for carrier in self.carriers:
            story = Story(self.reuse, self.project)
            others = [c for c in self.carriers if c is not carrier]
            story.__dict__["carriers"] = (carrier, *others)
            yield story

    @cached_property
    def attribute(self) -> str:
        """The last part of an attribute path (`hidden` for `self.model.hidden`)."""
        return self.name.rpartition(".")[2] if "." in self.name else ""

    @cached_property
    def root_call(self) -> ast.Call | None:
        """The failing `backward` or `grad` call in the source."""
        module = self.project.module(self.reuse.reached.at.file)
        if module is None:
            return None
        return call_on_line(
            module, self.reuse.reached.at.line, "backward", "grad", "manual_backward"
        )

    @cached_property
    def root_names(self) -> set[str]:
        """Names of the tensor that the failing call walked."""
        names = {name.partition("[")[0] for name in self.reuse.reached.root}
        walked_tensor = walked(self.root_call) if self.root_call is not None else None
        if walked_tensor is not None:
            names.add(spelled(walked_tensor))
        return names

    @cached_property
    def binders(self) -> list[tuple[Module, Scope, ast.stmt]]:
        """Statements that give the carrier its value: in the shared frame; for a module's name,
        stores into it from any function; for an attribute, in any function."""
        found: list[tuple[Module, Scope, ast.stmt]] = []
        if self.shared is not None and self.name:
            for node in walk_scope(self.shared.scope):
                if isinstance(node, ast.stmt) and self.name in bindings(node):
                    found.append((self.shared.module, self.shared.scope, node))
        known = {id(binder[2]) for binder in found}
        for module in self.project.modules.values():
            for function in ast.walk(module.tree):
                if isinstance(function, FUNCTIONS[:2]):
                    found += [
                        (module, function, node)
                        for node in walk_scope(function)
                        if isinstance(node, ast.stmt)
                        and id(node) not in known
                        and self._binds_elsewhere(function, node)
                    ]
        return found

    def _binds_elsewhere(self, function: ast.AST, statement: ast.stmt) -> bool:
        """Whether a statement of another function gives the carrier its value."""
        names = bindings(statement)
        if self.attribute:
            return any(n == self.attribute or n.endswith("." + self.attribute) for n in names)
        if self.shared is None or self.name not in names:
            return False
        shared_is_module = isinstance(self.shared.scope, ast.Module)
        if not shared_is_module:
            return False
        into = any(n.startswith(self.name + "[") for n in names) or isinstance(statement, ast.Expr)
        return into or any(
            isinstance(node, ast.Global) and self.name in node.names for node in ast.walk(function)
        )

    @cached_property
    def bound_inside(self) -> bool:
        """Whether the carrier gets a new value in the passes between the two calls."""
        if self.shared is None:
            return True
        loop = self.loop
        for _, scope, statement in self.binders:
            if scope is self.shared.scope:
                if loop is None or statement in set(ast.walk(loop)):
                    return True
            elif getattr(scope, "name", "") not in ("__init__", "__post_init__", "reset", "setup"):
                if not _only_when_missing(self.project, statement, self.attribute):
                    return True
        return not self.binders

    @cached_property
    def self_fed(self) -> bool:
        """Whether the carrier's next value is computed from its last (a recurrence)."""
        return any(self._feeds(scope, statement) for _, scope, statement in self.binders)

    def _feeds(self, scope: Scope, statement: ast.stmt) -> bool:
        value = value_of(statement)
        if value is None:
            return False
        fresh = fresh_names(value, self._is_carrier)
        return any(self._is_carrier(name) for name in _sources(scope, statement, fresh))

    def _is_carrier(self, name: str) -> bool:
        """Whether a name, in whatever function, stands for the carrier."""
        if self.attribute:
            return name == self.name or (name.rpartition(".")[2] == self.attribute and "." in name)
        return name == self.name

    @cached_property
    def averaged(self) -> bool:
        """Whether the carrier is a running average with plain coefficients (an EMA)."""
        return any(
            is_average(value, self._is_carrier)
            for _, _, statement in self.binders
            if (value := value_of(statement)) is not None
        ) or any(
            interpolates(statement, self.attribute or self.name) for _, _, statement in self.binders
        )

    @cached_property
    def stored(self) -> bool:
        """Whether the carrier is kept by being put into a container."""
        return any(
            isinstance(statement, ast.Expr)
            or any("[" in spelled(t) for t in getattr(statement, "targets", []))
            or ((value := value_of(statement)) is not None and queued(value, self._is_carrier))
            for _, _, statement in self.binders
        )

    @cached_property
    def summed(self) -> bool:
        """Whether the failing call walks a total that the carrier is, or is summed into."""
        join = self.join
        if join is None:
            return False
        if join.shape not in ((), (1,)) or not self.bound_inside:
            return False
        new = join.new.op if join.new is not None else ""
        is_root = self.name in self.root_names or any(
            self.name in _sources_of_call(self, name) for name in self.root_names
        )
        return (new.startswith(_SUMMING) and is_root) or any(
            adds_up(statement, self._is_carrier) for _, _, statement in self.binders
        )

    @cached_property
    def sliced(self) -> bool:
        """Whether each pass walks one sample, step or slice of the carrier."""
        loop = self._inner_loop
        if loop is None or self.shared is None or isinstance(loop, ast.While):
            return False
        keyed = isinstance(loop.iter, ast.Call) and called_name(loop.iter) in ("items", "values")
        if keyed or (self.holder is not None and self.holder.container in ("dict", "OrderedDict")):
            return False
        targets = set(target_names(loop.target))
        if self.name and mentions(loop.iter, self.name):
            return True
        if any(self._made_per_sample(name) for name in names_read(loop.iter)):
            return True
        return any(
            isinstance(node, ast.Subscript)
            and self.name
            and spelled(node.value) == self.name
            and names_read(node.slice) & targets
            for node in ast.walk(loop)
        )

    def _made_per_sample(self, name: str) -> bool:
        """Whether a name is a list (or vector) of losses, one for each part of the carrier."""
        if self.shared is None or not self.name:
            return False
        for node in walk_scope(self.shared.scope):
            if not isinstance(node, ast.stmt) or name not in bindings(node):
                continue
            value = value_of(node) or (node.value if isinstance(node, ast.Expr) else None)
            if isinstance(value, ast.ListComp) and any(
                mentions(generator.iter, self.name) for generator in value.generators
            ):
                return True
            if value is not None and any(
                isinstance(inner, ast.Subscript) and spelled(inner.value) == self.name
                for inner in ast.walk(value)
            ):
                return True
        return False

    @cached_property
    def each_of_many(self) -> bool:
        """Whether the failing line walks one after the other of a collection of losses."""
        loop = self._inner_loop
        root = walked(self.root_call) if self.root_call is not None else None
        if loop is None or isinstance(loop, ast.While) or not isinstance(root, ast.Name):
            return False
        return self.same_line and root.id in target_names(loop.target)

    @cached_property
    def sums_walked(self) -> bool:
        """Whether the failing loss is only a sum of tensors that were walked themselves."""
        joins = self.reuse.joins
        return bool(joins) and all(
            join.new is not None
            and join.new.op.startswith(_SUMMING)
            and any(holder.path in self.walked_roots for holder in join.holders)
            for join in joins
        )

    @cached_property
    def walked_roots(self) -> set[str]:
        """Spellings of tensors that a `backward()` statement of the shared frame walks."""
        if self.shared is None:
            return set()
        roots = [walked(call) for call in backward_calls(self.shared.scope)]
        return {spelled(root) for root in roots if root is not None} | set(self.reuse.freed.root)

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

    @cached_property
    def _inner_loop(self) -> Loop | None:
        return self.shared.loops[0] if self.shared is not None and self.shared.loops else None

    @cached_property
    def steps_inside(self) -> bool:
        """Whether the loop between the calls also steps an optimizer."""
        return self.loop is not None and bool(steps(self.loop))

    @cached_property
    def from_grad(self) -> bool:
        """Whether `autograd.grad` freed the graph."""
        return self.reuse.freed.kind == "grad"

    @cached_property
    def in_closure(self) -> bool:
        """Whether an optimizer called the function that walks the graph."""
        return (
            any("optim" in frame for frame in self.reuse.reached.library)
            and self.root_call is not None
        )

    @cached_property
    def maker_called_inside(self) -> bool:
        """Whether the model that made the carrier outside the loop is called in it again: the
        carrier then is the old value beside the new one."""
        if self.loop is None or self.shared is None:
            return False
        makers: set[str] = set()
        for _, scope, statement in self.binders:
            if statement not in set(ast.walk(self.loop)):
                names = _sources(scope, ast.Pass(), names_read(value_of(statement) or statement))
                makers |= {
                    spelled(node.func)
                    for other in walk_scope(scope)
                    if isinstance(other, ast.Assign)
                    and (other is statement or set(bindings(other)) & names)
                    for node in ast.walk(other.value)
                    if isinstance(node, ast.Call) and _is_model_call(node)
                }
        called = {spelled(n.func) for n in ast.walk(self.loop) if isinstance(n, ast.Call)}
        return bool(makers & called)

    @cached_property
    def target_calls(self) -> list[ast.Call]:
        """Calls of a loss function whose second argument, and only that one, comes from the
        carrier: there it stands for a constant."""
        if self.shared is None or not self.name:
            return []
        scope = self.shared.scope
        names = {self.name, *self._siblings}
        found = []
        for node in walk_scope(scope):
            if isinstance(node, ast.Call) and len(node.args) >= 2 and _is_loss(node):
                ours, theirs = (
                    _sources(scope, ast.Pass(), names_read(argument)) for argument in node.args[:2]
                )
                if theirs & names and not ours & names:
                    found.append(node)
        return found

    @cached_property
    def _siblings(self) -> set[str]:
        """Names that one statement binds together with the carrier (`a, b = x.chunk(2)`)."""
        return {
            name
            for _, _, statement in self.binders
            if isinstance(statement, ast.Assign)
            for name in bindings(statement)
        }


def _is_model_call(call: ast.Call) -> bool:
    """A call with arguments of something that is neither a library's nor a class."""
    text = spelled(call.func)
    library = text.partition(".")[0] in ("torch", "F", "nn", "np", "math")
    return bool(call.args) and not library and not called_name(call)[:1].isupper()


def _is_loss(call: ast.Call) -> bool:
    name = called_name(call).lower()
    return any(word in name for word in ("loss", "criterion", "mse", "kl_div", "bce"))


def _undetached(argument: ast.expr, name: str) -> bool:
    return spelled(argument) == name


def _sources(scope: Scope, statement: ast.stmt, wanted: set[str]) -> set[str]:
    """Names that flow into the wanted ones through the scope's own assignments."""
    wanted = set(wanted)
    for _ in range(8):
        more: set[str] = set()
        for node in walk_scope(scope):
            if isinstance(node, ast.stmt) and node is not statement:
                given = value_of(node)
                if given is not None and set(bindings(node)) & wanted:
                    more |= names_read(given)
        if more <= wanted:
            break
        wanted |= more
    return wanted


def _sources_of_call(story: Story, name: str) -> set[str]:
    """Names that the tensor called `name` is computed from, in the shared frame."""
    if story.shared is None:
        return set()
    found: set[str] = set()
    for node in walk_scope(story.shared.scope):
        if isinstance(node, ast.stmt) and name in bindings(node):
            given = value_of(node)
            if given is not None:
                found |= names_read(given)
    root = walked(story.root_call) if story.root_call is not None else None
    if root is not None and spelled(root) == name:
        found |= names_read(root)
    return found


def _only_when_missing(project: Project, statement: ast.stmt, attribute: str) -> bool:
    """Whether the statement fills a cache: it runs only `if self.x is None` or the like, or
    behind an early return of what is cached."""
    for module in project.modules.values():
        if statement in module.parents:
            return fills_cache(module, statement, attribute) is not None
    return False


def fills_cache(module: Module, statement: ast.stmt, attribute: str) -> ast.If | None:
    """The `if` that keeps a statement from running when the attribute is there already: one
    around it, or one in front of it that returns early."""
    for parent in module.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and attribute in spelled(parent.test):
            inside = any(statement is n for s in parent.body for n in ast.walk(s))
            return parent if inside else None
    for earlier in module.block_of(statement):
        if earlier is statement:
            return None
        if isinstance(earlier, ast.If) and attribute in spelled(earlier.test):
            if isinstance(earlier.body[-1], ast.Return):
                return earlier
    return None


def story_of(evidence: object, project: Project) -> Story | None:
    """The story of a reuse; None for other evidence."""
    return Story(evidence, project) if isinstance(evidence, GraphReuse) else None
