"""Choose the names to cut, and write the cut at a place. Every cut uses this module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from analyzers.evidence import GraphReuse
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.reuse.recordtypes import record_fields
from analyzers.explain.reuse.shared_frame import SharedFrame
from analyzers.repair.blocks import alias, indentation
from analyzers.repair.cut.detaching import Idiom
from analyzers.repair.cut.rendering import Writing, carried, has_graph
from analyzers.repair.sites.helpers import functions_cutting, methods_cutting
from analyzers.repair.sites.module_names import deque_of, quote_of, replace_of, with_imports
from analyzers.repair.sites.scopes import guarded, rebinds, wants_gradient
from analyzers.source.detached import is_made_without
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.recurrent_layers import state_may_be_pair_or_tensor
from analyzers.source.targets import keyed
from provenance import Binding, ValueShape

_TRADEOFF = (
    "Each iteration learns on its own (truncated BPTT): no gradient reaches earlier iterations."
)
MANY = 16  # most paths that a binding records: with so many, any part may have been carried


class CutStatements(NamedTuple):
    """Statements that cut some names, their description, and what they use
    that may need an import.
    """

    lines: list[str]
    title: str
    needs: frozenset[str] = frozenset()


class CutSite(NamedTuple):
    """A place for statements that cut, before or after a statement; `guarded`: the first iteration
    may find None there.
    """

    strategy: str
    where: str
    statement: ast.stmt
    rank: int
    follows: bool = False
    guarded: bool = False


@dataclass
class Cutting:
    """One reuse whose path is known, and the project it happened in."""

    reuse: GraphReuse
    project: Project
    template: str = "{0}.detach()"

    @property
    def made_once(self) -> bool:
        """Return True if all iterations share one value that none of them recomputes."""
        return not self.reuse.remade and not SharedFrame(self.reuse, self.project).same_iteration

    def outlived(self) -> list[Binding]:
        """Return the names that still hold what was freed, right after the backward call that freed
        it.
        """
        return [binding for binding in self.reuse.path if binding.how == "outlived"]

    def functions(self, *how: str) -> Iterator[tuple[list[Binding], Module, ast.FunctionDef]]:
        """Yield bindings of these kinds, grouped by activation, each with its function."""
        found: dict[int, list[Binding]] = {}
        for binding in self.reuse.path:
            if binding.how in how:
                found.setdefault(binding.at.frame, []).append(binding)
        for bindings in found.values():
            module = self.project.module(bindings[0].at.file)
            function = (
                module.function_named(bindings[0].at.function) if module is not None else None
            )
            if module is not None and isinstance(function, ast.FunctionDef):
                yield bindings, module, function

    def covering(self, bindings: Sequence[Binding]) -> list[Binding]:
        """Return enough of the names to reach each node that any of them holds; empty if an old
        value has no name here.
        """
        wanted = {edge for binding in self.reuse.path for edge in binding.carries}
        chosen: list[Binding] = []
        for binding in bindings:
            if not set(binding.carries) <= {edge for other in chosen for edge in other.carries}:
                chosen.append(binding)
        covered = {edge for binding in chosen for edge in binding.carries}
        return chosen if covered >= wanted else []

    def written(
        self, bindings: Sequence[Binding], module: Module, scope: Scope
    ) -> Iterator[CutStatements]:
        """Yield statements that cut all of these names: by the script's own functions, then written
        out.
        """
        if not bindings:
            return
        writing = self.writing(module)
        names = [writing.path(binding.name) for binding in bindings]
        title = f"Detach {said(names)}"
        bound = all(rebinds(binding, scope) for binding in bindings)
        for helper in functions_cutting(module, self.project)[:2] if bound else ():
            lines = [f"{name} = {helper}({name})" for name in names]
            yield CutStatements(lines, f"{title} by `{helper}`")
        offered = [list(methods_cutting(binding, self.project)) for binding in bindings]
        for call in dict.fromkeys(offered[0]):
            if all(call in calls for calls in offered) and (bound or " = " not in call):
                yield CutStatements([call], f"{title} by `{call.partition(' = ')[2] or call}`")
        if (together := _in_layers(bindings, writing)) is not None:
            yield CutStatements(
                [line.replace("\t", indentation(module)) for line in together], title
            )
        leaving = replace(writing, cut=writing.cut.removesuffix(_LEAF) + _LEAF)
        flat: list[str] = []
        for name, binding in zip(names, bindings, strict=True):
            kind = kind_carried(binding)
            leaf = kind.kind in _OF_LEAVES and self._wants_gradient(scope, name)
            made = (leaving if leaf else writing).statements(
                name, kind, rebind=rebinds(binding, scope)
            )
            if not made:
                return
            flat += [line.replace("\t", indentation(module)) for line in made]
        yield CutStatements(flat, title, frozenset(writing.needs))

    def _wants_gradient(self, scope: Scope, name: str) -> bool:
        """Return True if the scope, or a function that receives the name, takes a gradient by it:
        after a cut, it must be a leaf that requires one.
        """
        if wants_gradient(scope, name):
            return True
        calls = (node for node in walk_scope(scope) if isinstance(node, ast.Call))
        return any(
            spelled(value) == name and wants_gradient(function, parameter)
            for call in calls
            for module, function in self.project.functions_called(call)
            for parameter, value in arguments(call, module, function)
        )

    def writing(self, module: Module) -> Writing:
        """Return the renderer of expressions for a module."""
        torch = alias(module, "torch")
        quote, template = quote_of(module), self.template
        either = state_may_be_pair_or_tensor(self.project)
        return Writing(quote, replace_of(module), deque_of(module), torch, template, either)

    def replaced(
        self, module: Module, node: ast.expr, kind: ValueShape, bound: str = ""
    ) -> list[Edit]:
        """Return edits that cut an expression in place; of a literal structure or record, its
        parts. `bound`: the name that it is bound to.
        """
        if is_made_without(node):
            return []
        editor, writing = Editor(module), self.writing(module)
        literal = self._written_out(node, kind)
        if literal is not None:
            return [edit for part in literal for edit in self.replaced(module, *part)]
        if not has_graph(kind):
            return []
        if kind.kind == "tensor":
            leaf = bool(bound) and self._wants_gradient(module.scope_of(node), bound)
            return [Idiom(self.template.removesuffix(_LEAF) + _LEAF * leaf).at(editor, node)]
        text = writing.expression(editor.text_of(node), kind)
        needs = frozenset(writing.needs)
        return [editor.replace(node, text), *with_imports(module, needs)] if text else []

    def _written_out(
        self, node: ast.expr, kind: ValueShape
    ) -> list[tuple[ast.expr, ValueShape]] | None:
        """Return the parts of a literal, or the arguments of a record's constructor, with their
        shapes.
        """
        known = dict(kind.items())
        any_ = known.get("")
        parts: list[tuple[ast.expr, ValueShape | None]]
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                each = [any_] * len(elements) if any_ is not None else [*known.values()]
                if len(each) != len(elements):
                    return None
                parts = [*zip(elements, each, strict=True)]
            case ast.Dict():
                parts = [(value, known.get(repr(key), any_)) for key, value in keyed(node)]
            case ast.Call(func=ast.Name(id=name)) if kind.kind in _WRITTEN:
                fields = [repr(field) for field in record_fields(self.project, name)]
                if name != kind.name and not (kind.kind == "record" and set(known) <= set(fields)):
                    return None
                if name == "dict" and node.args:  # a copy of another
                    return None
                fields = fields or list(known)
                given = dict(zip(fields, node.args, strict=False))
                given.update({repr(k.arg): k.value for k in node.keywords})
                parts = [(value, known.get(field)) for field, value in given.items()]
            case _:
                return None
        return [(value, part) for value, part in parts if part is not None]

    def at(
        self, sites: Sequence[CutSite], bindings: Sequence[Binding], module: Module, scope: Scope
    ) -> Iterator[Proposal]:
        """Yield proposals that cut these names at each of the sites, with the necessary imports."""
        editor, step = Editor(module), indentation(module)
        for made in self.written(bindings, module, scope):
            for site in sites:
                lines = guarded(made.lines, bindings, step) if site.guarded else made.lines
                put = editor.insert_after if site.follows else editor.insert_before
                edits = (put(site.statement, *lines), *with_imports(module, made.needs))
                yield cut(site.strategy, f"{made.title} {site.where}", edits, site.rank)


def cut(strategy: str, title: str, edits: tuple[Edit, ...], rank: int) -> Proposal:
    """Return a proposal that ends gradients between iterations, with this tradeoff."""
    return Proposal(strategy, title, edits, _TRADEOFF, rank)


_LAYER = re.compile(r"(?P<owner>[\w.]+)\[\d+\]\.(?P<attribute>\w+)")


def _in_layers(bindings: Sequence[Binding], writing: Writing) -> list[str] | None:
    """Return one loop for the same attribute of several layers in a list (`net.layers[0].mem`)."""
    found = [_LAYER.fullmatch(binding.name) for binding in bindings]
    places = {match.groups() if match else None for match in found}
    if len(bindings) < 2 or len(places) > 1 or found[0] is None:
        return None
    lines = writing.statements(f"layer.{found[0]['attribute']}", kind_carried(bindings[0]))
    return [f"for layer in {found[0]['owner']}:", *(f"\t{line}" for line in lines or ())]


_LEAF = ".requires_grad_()"
_OF_LEAVES = ("tensor", "list", "tuple", "dict")
_WRITTEN = ("namedtuple", "dataclass", "dict", "record")


def kind_carried(binding: Binding) -> ValueShape:
    """Return the shape of the bound value, with graphs only where its paths lead to what was
    carried.
    """
    paths = [path.removeprefix(binding.name) for path in binding.paths]
    return carried(binding.kind, paths) if len(paths) < MANY else binding.kind
