"""Where a parameter is cut off from the loss, and fixes that let the gradient through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from analyzers.blocks import alias
from analyzers.edits import Edit
from analyzers.evidence import Place, SilentFault
from analyzers.flow import bindings, called_name, names_read, value_of, walk_scope
from analyzers.pattern import Carrier, Proposal
from analyzers.recording import recording, switched_off_at
from analyzers.source import FUNCTIONS, Project, Scope, spelled
from analyzers.spots import Spot
from analyzers.trees import walk
from analyzers.uncutting import cuts_in, without_cut

MAX_CUTS = 3


@dataclass(frozen=True)
class Cut:
    """A statement that cuts values of a starved parameter off, and the line to look at."""

    where: Spot
    place: Place
    carrier: Carrier


def cuts_behind(fault: SilentFault, project: Project) -> Iterator[Cut]:
    """The cuts on the ways of the starved parameters through the functions that use them; those
    of whole models, which may be an evaluation's, last."""
    parts = {part for path in fault.params for part in path.split(".")[1:] if not part.isdigit()}
    models = {path.partition(".")[0] for path in fault.params}
    seen: set[int] = set()
    for wanted in (parts, models):
        for cut in _cuts_of(wanted, project):
            if id(cut.where.statement) not in seen and len(seen) < MAX_CUTS:
                seen.add(id(cut.where.statement))
                yield cut


def _cuts_of(wanted: set[str], project: Project) -> Iterator[Cut]:
    for module in project.modules.values():
        scopes: list[Scope] = [n for n in walk(module.tree) if isinstance(n, FUNCTIONS[:2])]
        for scope in [*scopes, module.tree]:
            for statement, name in _flow(scope, wanted):
                where = Spot(module, statement, Place(module.path, statement.lineno))
                cut = _cut_at(where, name)
                if cut is not None:
                    yield cut


def _flow(scope: Scope, wanted: set[str]) -> Iterator[tuple[ast.stmt, str]]:
    """Statements that read the wanted modules or parameters, or what was computed from them, with
    the name that led there."""
    derived: dict[str, str] = {}
    if getattr(scope, "name", "") == "__init__":
        return
    for node in walk_scope(scope):
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
            continue
        value = node.value
        read = names_read(value) if value is not None else set()
        source = next((n for n in sorted(read) if _is_wanted(n, wanted) or n in derived), None)
        if source is not None:
            yield node, derived.get(source, source)
            derived |= {name: derived.get(source, source) for name in bindings(node)}


def _is_wanted(name: str, wanted: set[str]) -> bool:
    return name in wanted or ("." in name and name.rpartition(".")[2] in wanted)


def _cut_at(where: Spot, name: str) -> Cut | None:
    line = switched_off_at(where)
    sampled = list(_samples(where.statement))
    if line is None and not cuts_in(where.statement) and not sampled:
        return None
    place = Place(where.place.file, line or where.place.line)
    bound = bindings(where.statement)
    carrier = Carrier(bound[0] if bound and not _is_number(where) else name, where.place)
    return Cut(where, place, carrier)


def _is_number(where: Spot) -> bool:
    """Whether the cut gives a plain number: then the parameter's own name says more."""
    value = value_of(where.statement)
    return value is not None and any(
        isinstance(node, ast.Call) and called_name(node) in ("item", "float", "tolist")
        for node in walk(value)
    )


def _samples(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls of `sample` on a distribution, through which no gradient goes."""
    for node in walk(statement):
        if isinstance(node, ast.Call) and called_name(node) == "sample":
            if isinstance(node.func, ast.Attribute):
                yield node


def fed_again(cut: Cut, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """The statement without its cut; recorded; with a sample that has a gradient."""
    if switched_off_at(cut.where) is not None:
        for proposal in recording(cut.where, project, rank):
            yield replace(proposal, gradients="changed")
    for proposal in without_cut(cut.where, "changed", rank):
        edits = (*proposal.edits, *_with_torch(cut.where))
        yield Proposal(proposal.strategy, proposal.title, edits, "changed", "", rank)
    sampled = [
        Edit(cut.where.module.path, end - len("sample"), end, "rsample")
        for call in _samples(cut.where.statement)
        for end in [cut.where.editor.span(call.func)[1]]
    ]
    if sampled:
        title = "Sample with a gradient: `rsample()`"
        yield Proposal("rsample", title, tuple(sampled), "changed", "", rank)


def _with_torch(where: Spot) -> Iterator[Edit]:
    """`torch.exp` in place of `math.exp` around a value that is a tensor now."""
    math = alias(where.module, "math")
    for node in walk(where.statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if spelled(node.func.value) == math and cuts_in(ast.Expr(node)):
                yield where.editor.replace(node.func.value, alias(where.module, "torch"))
