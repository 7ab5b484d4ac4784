"""Fixes that make a graph anew in each pass: the forward goes into the loop, or the closure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.rewrite import copy_into, head_of, move_into
from analyzers.source.calls import steps
from analyzers.source.edits import Editor
from analyzers.source.flow import (
    bindings,
    called_name,
    mentions,
    names_read,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.trees import walk

_DRAWS = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "normal", "sample")
_DATA = ("rand", "randn", "zeros", "ones", "tensor", "arange", "linspace", "randint", "randperm")


def built_by_a_module(story: Story) -> bool:
    """Whether the carrier's value comes from calling a model on data."""
    for _, _, statement in story.binders:
        value = value_of(statement)
        if value is None:
            continue
        for node in walk(value):
            if isinstance(node, ast.Call) and node.args and _calls_an_object(story.project, node):
                if any(not _is_parameter(story, argument) for argument in node.args):
                    return True
                return not _forward_in_loop(story)
    return False


def of_parameters_alone(story: Story) -> bool:
    """Whether what the loop takes its parts from is made without any data, and each pass steps:
    the passes are batches, not the samples of one."""
    values = [value for _, _, statement in story.binders if (value := value_of(statement))]
    return (
        story.steps_inside
        and bool(values)
        and all(
            isinstance(value, ast.Call) and not value.args and not value.keywords
            for value in values
        )
    )


def _forward_in_loop(story: Story) -> bool:
    """Whether the loop has a forward of its own, which the carrier only goes into."""
    return story.loop is not None and any(
        isinstance(node, ast.Call)
        and any(names_read(argument) for argument in node.args)
        and not _is_library(spelled(node.func))
        and not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))
        and not any(mentions(argument, story.name) for argument in node.args)
        for statement in story.loop.body
        for node in walk(statement)
    )


def _is_library(path: str) -> bool:
    return path.partition(".")[0] in ("torch", "F", "nn", "np", "math")


def _calls_an_object(project: Project, call: ast.Call) -> bool:
    """`model(x)` or `self.encoder(x)`, not `torch.exp(x)`, `F.relu(x)`, `x.pow(2)` or a plain
    function of the script."""
    text = spelled(call.func)
    if _is_library(text) or called_name(call)[:1].isupper() or hasattr(builtins, text):
        return False
    if any(module.function_named(text) is not None for module in project.modules.values()):
        return False
    owner = text.partition(".")[0]
    return isinstance(call.func, ast.Name) or owner == "self" or _is_constructed(project, owner)


def _is_constructed(project: Project, name: str) -> bool:
    """Whether the name is bound to what a class makes when it is called."""
    return any(
        name in bindings(node)
        and isinstance(value := value_of(node), ast.Call)
        and called_name(value)[:1].isupper()
        and not _is_record(project, called_name(value))
        for module in project.modules.values()
        for node in walk(module.tree)
        if isinstance(node, ast.stmt)
    )


def _is_record(project: Project, name: str) -> bool:
    """Whether the class of this name only holds data."""
    return any(
        isinstance(node, ast.ClassDef)
        and node.name == name
        and any("dataclass" in spelled(decorator) for decorator in node.decorator_list)
        for module in project.modules.values()
        for node in walk(module.tree)
    )


def _is_parameter(story: Story, argument: ast.expr) -> bool:
    """Whether an argument is itself a parameter: a leaf that the script made to be learnt."""
    if any(isinstance(n, ast.Attribute) and n.attr == "weight" for n in walk(argument)):
        return True
    name = spelled(argument)
    return any(
        name in bindings(node)
        and (value := value_of(node)) is not None
        and any(
            isinstance(inner, ast.Call)
            and (
                called_name(inner) in ("Parameter", "requires_grad_")
                or any(k.arg == "requires_grad" for k in inner.keywords)
            )
            for inner in walk(value)
        )
        for module in story.project.modules.values()
        for node in walk(module.tree)
        if isinstance(node, ast.stmt)
    )


def forward_into_loop(story: Story, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Move the statements that make the carrier to the head of the loop."""
    shared = story.shared
    loop = story.loop or (shared.loops[0] if shared is not None and shared.loops else None)
    if shared is None or loop is None:
        return
    names = {c.name for c in story.carriers} or story.root_names
    if not any(True for _ in chains_of(shared.module, shared.scope, loop, names)):
        names = names | _made_by_calls(story, shared.module, shared.scope, loop)
    for module, scope in _scopes_around(shared.module, shared.scope):
        chains = list(chains_of(module, scope, loop, names))
        for place, chain in enumerate(chains):
            editor = Editor(module)
            alone = not read_between(scope, chain, loop)
            edits = (move_into if alone else copy_into)(editor, chain, head_of(loop))
            what = ", ".join(f"`{n}`" for s in chain for n in bindings(s)[:1])
            cost = "The forward runs once in each pass."
            draws = any(_draws(n) for s in chain for n in walk(s))
            yield Proposal(
                "forward-into-loop",
                f"Compute {what} inside the loop",
                edits,
                f"{cost} Random numbers are drawn anew each time." if draws else cost,
                rank + place,
            )
        if chains:
            return


def _draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in _DRAWS


def _made_by_calls(story: Story, module: Module, scope: Scope, loop: ast.stmt) -> set[str]:
    """Names that stand in front of the loop for what a function, or a constructor, made there
    together with the old graph."""
    makers: set[str] = set()
    for join in story.reuse.joins:
        *owners, function = join.old.at.function.split(".") if join.old.at is not None else [""]
        makers.add(owners[-1] if function == "__init__" and owners else function)
    return {
        name
        for statement in _in_front(module, scope, loop)
        if any(isinstance(n, ast.Call) and called_name(n) in makers for n in walk(statement))
        for name in bindings(statement)
    }


def _scopes_around(module: Module, scope: Scope) -> Iterator[tuple[Module, Scope]]:
    """The scope and those around it, innermost first."""
    yield module, scope
    node: ast.AST = scope
    while not isinstance(node, ast.Module):
        node = module.scope_of(node)
        assert isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield module, node


def chains_of(
    module: Module, scope: Scope, before: ast.stmt, names: set[str]
) -> Iterator[list[ast.stmt]]:
    """Runs of statements in front of `before` that make the names: with everything that depends
    on a model or a parameter, then shorter ones down to the last statement alone."""
    chain: list[ast.stmt] = []
    wanted = set(names)
    held = _held_by_optimizers(module, scope, before)
    for statement in reversed(list(_in_front(module, scope, before))):
        if not set(bound_in(statement)) & wanted or set(bound_in(statement)) & held:
            continue
        if constructs(module, statement):
            continue
        if not chain or _makes_graph(scope, statement):
            chain.insert(0, statement)
            wanted |= names_read(statement)
        elif set(bound_in(statement)) & _rebound_in(chain):
            chain.insert(0, statement)  # where a sum that the chain adds to begins
    if not chain:
        return
    yield chain
    if (longer := _with_dependents(module, scope, before, chain)) != chain:
        yield longer
    if len(chain) > 1:
        yield chain[-1:]


def _with_dependents(
    module: Module, scope: Scope, before: ast.stmt, chain: list[ast.stmt]
) -> list[ast.stmt]:
    """The chain with what is made from it on the way to the loop, and read there."""
    made = {name for statement in chain for name in bound_in(statement)}
    wanted = names_read(before)
    longer = list(chain)
    held = _held_by_optimizers(module, scope, before)
    for statement in _in_front(module, scope, before):
        if statement in longer or not isinstance(statement, ast.Assign):
            continue
        if set(bindings(statement)) & held or constructs(module, statement):
            continue
        if names_read(statement) & made and set(bindings(statement)) & wanted:
            longer.append(statement)
            made |= set(bindings(statement))
    return longer


def constructs(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement makes a model, a layer, an optimizer or a loader: to make one anew in
    each pass would throw away what was learnt, or begin the data again."""
    return any(
        isinstance(node, ast.Call) and _is_constructor(module, node)
        for node in walk(value_of(statement) or ast.Pass())
    )


def _is_constructor(module: Module, call: ast.Call) -> bool:
    name = called_name(call)
    if not name[:1].isupper():
        return False
    path = spelled(call.func)
    if path.startswith(("nn.", "optim.", "torch.nn.", "torch.optim.")) or name.endswith("Loader"):
        return True
    return any(
        spelled(base).endswith(("Module", "Optimizer", "Dataset"))
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and node.name == name
        for base in node.bases
    )


def _held_by_optimizers(module: Module, scope: Scope, loop: ast.stmt) -> set[str]:
    """Names of what steps in the loop, and of what it was made from: to make them anew in each
    pass would throw away what was learnt."""
    stepped = {
        spelled(call.func.value) for call in steps(loop) if isinstance(call.func, ast.Attribute)
    }
    made = [s for s in _in_front(module, scope, loop) if set(bindings(s)) & stepped]
    return stepped.union(*(names_read(value_of(s) or s) for s in made))


def _in_front(module: Module, scope: Scope, before: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that surely ran before this one in the scope, in order."""
    blocks: list[list[ast.stmt]] = []
    for parent in (before, *module.ancestors(before)):
        if parent is scope:
            blocks.append([s for s in getattr(scope, "body", []) if s.lineno < before.lineno])
            break
        if isinstance(parent, ast.stmt) and parent in module.parents:
            holder = module.parents[parent]
            if isinstance(holder, ast.stmt) and holder is not scope:
                block = module.block_of(parent)
                blocks.append(block[: block.index(parent)] if parent in block else [])
    around = {before, *module.ancestors(before)}
    for block in reversed(blocks):
        yield from (
            s for s in block if s not in around and not isinstance(s, (*FUNCTIONS, ast.ClassDef))
        )


def bound_in(statement: ast.stmt) -> list[str]:
    """Names that a statement, or any statement in its body, binds."""
    return [n for s in walk(statement) if isinstance(s, ast.stmt) for n in bindings(s)]


def _rebound_in(chain: Sequence[ast.stmt]) -> set[str]:
    """Names that the chain both reads and binds: what adds up."""
    bound = {name for s in chain for name in bound_in(s)}
    return bound & {name for s in chain for name in names_read(s)}


def _makes_graph(scope: Scope, statement: ast.stmt) -> bool:
    """Whether the statement depends on a model or a parameter, as far as the text can tell."""
    value: ast.AST = value_of(statement) or statement
    for node in walk(value):
        if not isinstance(node, ast.Call):
            continue
        name = called_name(node)
        if name[:1].isupper() or name in _DATA or name in ("to", "cuda", "manual_seed", "load"):
            return False
    if not any(isinstance(node, ast.Call | ast.BinOp | ast.Tuple) for node in walk(value)):
        return False
    return any(
        _is_learned(scope, name)
        for name in names_read(value)
        if not _is_library(name) and ("." not in name or name.startswith("self."))
    )


def _is_learned(scope: Scope, name: str, depth: int = 6) -> bool:
    """Whether the name is a model, a parameter, or computed from one."""
    if name.startswith("self."):
        return True
    if depth == 0:
        return True
    definitions = [
        value
        for node in walk_scope(scope)
        if isinstance(node, ast.stmt) and name in bindings(node)
        if (value := value_of(node)) is not None
    ]
    if not definitions:
        return not name[:1].isupper()  # an argument or a global may be a model
    for value in definitions:
        for node in walk(value):
            if isinstance(node, ast.Call) and (
                (called_name(node)[:1].isupper() and "Data" not in called_name(node))
                or called_name(node) == "requires_grad_"
                or any(k.arg == "requires_grad" for k in node.keywords)
            ):
                return True
        if any(
            _is_learned(scope, other, depth - 1)
            for other in names_read(value)
            if other != name and not _is_library(other) and "." not in other
        ) and not _only_data(value):
            return True
    return False


def _only_data(value: ast.expr) -> bool:
    calls = [node for node in walk(value) if isinstance(node, ast.Call)]
    return bool(calls) and all(called_name(call) in _DATA for call in calls)


def read_between(scope: Scope, chain: Sequence[ast.stmt], loop: ast.AST) -> bool:
    """Whether anything between the chain and the loop reads what the chain makes."""
    made = {name for statement in chain for name in bound_in(statement)}
    inside = set(walk(loop)) | {n for s in chain for n in walk(s)}
    line = getattr(loop, "lineno", 0)
    return any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in made
        and node not in inside
        and node.lineno < line
        for node in walk_scope(scope)
    )
