"""Fix tensors passed to NumPy: detach them, or compute the same with torch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import SourceLocation, resolve_location, returns_of
from analyzers.repair.blocks import alias, joined
from analyzers.repair.reconnect.gradient_paths import goes_on
from analyzers.repair.rewrite import with_keyword
from analyzers.source.callees import is_call, operation
from analyzers.source.calls import calls_of, own_calls
from analyzers.source.detached import WITHOUT_GRAPH
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, value_of, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk
from provenance import CodeLine

# Functions that torch has under the same name with the same meaning for tensors.
SHARED = frozenset(
    {"abs", "exp", "log", "sqrt", "square", "mean", "sum", "where", "sin", "cos", "tanh", "sign"}
    | {"maximum", "minimum", "clip", "log1p", "expm1", "prod", "std", "var", "stack", "dot"}
    | {"absolute", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "sinc", "hypot"}
    | {"log2", "log10", "exp2", "logaddexp", "einsum", "matmul", "outer", "concatenate"}
)
_ALONG = frozenset({"cumsum", "cumprod"})  # torch requires a dimension
_OF_LISTS = frozenset({"sum", "mean", "prod", "max", "min", "array"})  # torch takes tensors alone
_MADE = 3  # of a name, the last that are looked at
_LISTS = (ast.List, ast.ListComp, ast.Tuple)
_NUMBERS = WITHOUT_GRAPH | {"float", "int", "len"}
_LEAVING = frozenset({"numpy", "detach", "cpu"})


def detached_arrays(where: SourceLocation, names: Sequence[str]) -> Iterator[Proposal]:
    """Yield proposals with `.detach()` before `.numpy()`, or on a NumPy function's argument."""
    edits = _before_numpy(where, names) or _of_comprehensions(where)
    edits = edits or _of_names(where, names)
    if edits:
        title = "Detach what NumPy only reads"
        tradeoff = "What NumPy computes has no gradient."
        yield Proposal("detach-for-numpy", title, joined(edits), tradeoff, 1)


def detached_by_caller(
    where: SourceLocation, names: Sequence[str], stack: Sequence[CodeLine], project: Project
) -> Iterator[Proposal]:
    """Yield proposals with `.detach()` on what a caller passes to the function, which others may
    call with arrays.
    """
    frames = [one for place in stack if (one := resolve_location(project, place)) is not None]
    for caller, inner in pairwise(frames):
        if inner.scope is not where.scope or not isinstance(inner.scope, ast.FunctionDef):
            continue
        calls = own_calls(caller.statement, inner.scope.name)
        for call in calls if len(calls) == 1 else ():
            for parameter, given in arguments(call, inner.module, inner.scope):
                if parameter in names:
                    edit = caller.editor.append_to(given, ".detach()")
                    title = f"Detach `{caller.editor.text_of(given)}` for `{inner.scope.name}`"
                    tradeoff = "What NumPy computes has no gradient."
                    yield Proposal("detach-for-numpy", title, (edit,), tradeoff, 2)


def _before_numpy(where: SourceLocation, names: Sequence[str]) -> list[Edit]:
    """Return edits for every `.numpy()`, or only for the rejected one if its name is known; then
    also for other entries of the same collection in the block.
    """
    owners = list(_given_to_numpy(where.statement))
    refused = [owner for owner in owners if spelled(owner) in names][:1]
    entries = {spelled(o.value) for o in refused if isinstance(o, ast.Subscript)}
    others = (o for s in where.block if s is not where.statement for o in _given_to_numpy(s))
    alike = [o for o in others if isinstance(o, ast.Subscript) and spelled(o.value) in entries]
    return [where.editor.append_to(owner, ".detach()") for owner in [*(refused or owners), *alike]]


def _given_to_numpy(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement turns into arrays by `.numpy()`."""
    for call in calls_of(statement, "torch.Tensor.numpy"):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Attribute() as to) as copy)
            ) if is_call(copy, "torch.Tensor.cpu"):
                yield to.value
            case ast.Call(func=ast.Attribute(value=owner), args=[]):
                yield owner


def _of_comprehensions(where: SourceLocation) -> list[Edit]:
    """Return edits for what a comprehension passes to NumPy unchanged: its variable, or the result
    of a call.
    """
    return [
        where.editor.append_to(node.elt, ".detach()")
        for node in walk(where.statement)
        if isinstance(node, ast.ListComp | ast.GeneratorExp)
        if isinstance(node.elt, ast.Name)
        or (isinstance(node.elt, ast.Call) and operation(node.elt) not in _NUMBERS)
    ]


def _of_names(where: SourceLocation, names: Sequence[str]) -> list[Edit]:
    """Return edits for the tensor itself, or for each tensor of the list that NumPy received."""
    edits: list[Edit] = []
    for node in walk(where.statement):
        around = where.module.parents.get(node)
        if isinstance(around, ast.Call) and is_call(around, "builtins.len"):
            continue  # how many there are is no value of theirs
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            text = spelled(node)
            listed = text in names and is_sequence(where.module, node, node)
            if text in names and not listed:
                edits.append(where.editor.append_to(node, ".detach()"))
            elif listed or any(name.startswith(f"{text}[") for name in names):
                edits.append(where.editor.replace(node, f"[t.detach() for t in {text}]"))
    return edits


def said_with_torch(where: SourceLocation, project: Project) -> Iterator[Proposal]:
    """Yield proposals that replace the function's NumPy calls by torch calls if each has a
    counterpart; else those of the statement alone, and others in its block that lead to a loss;
    arrays stay tensors.
    """
    returned = any(returned.value is not None for returned in returns_of(where.scope))
    alike = [s for s in where.block if s is where.statement or _in_numpy(where, s)]
    wanted = [s for s in alike if goes_on(where.scope, s, project) and not _fills_array(where, s)]
    edits = torch_edits(where) or torch_edits(where, walk(where.statement)) if returned else []
    edits = edits or torch_edits(where, [n for s in wanted for n in walk(s)])
    if edits and (returned or where.statement in wanted):
        title = "Use torch's functions, which keep the graph"
        yield Proposal("torch-functions", title, joined(edits))


def _fills_array(where: SourceLocation, statement: ast.stmt) -> bool:
    """Return True if an assignment writes into a NumPy array, which keeps no graph."""
    numpy = alias(where.module, "numpy")
    filled = {
        spelled(target.value)
        for target, _ in assigned_pairs(statement)
        if isinstance(target, ast.Subscript)
    }
    return any(
        isinstance(value, ast.Call) and spelled(value.func).startswith(f"{numpy}.")
        for name in filled
        for made in definitions(where.scope, name)
        if (value := value_of(made)) is not None
    )


def _in_numpy(where: SourceLocation, statement: ast.stmt) -> bool:
    """Return True if an assignment calls the same NumPy function as the statement of the place."""
    numpy = alias(where.module, "numpy")
    called, other = (
        {spelled(n.func) for n in nodes_of(s, ast.Call)} for s in (where.statement, statement)
    )
    shared = called & other if isinstance(statement, ast.Assign) else set()
    return any(name.startswith(f"{numpy}.") for name in shared)


def torch_edits(where: SourceLocation, within: Iterable[ast.AST] | None = None) -> list[Edit]:
    """Return the edits of `said_with_torch`, for the whole function or some nodes of it; empty for
    a module's own lines, for a function without NumPy, and for one that calls what torch does not
    have.
    """
    numpy = alias(where.module, "numpy")
    nodes = list(walk_scope(where.scope) if within is None else within)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    of_numpy = [call for call in calls if spelled(call.func).rpartition(".")[0] == numpy]
    said = [_as_torch(where, call) for call in of_numpy]
    leaves = said or any(is_call(call, "torch.Tensor.numpy") for call in calls)
    everything = within is None and isinstance(where.scope, ast.Module)
    if everything or not leaves or not all(said):
        return []
    methods = [edit for call in calls for edit in _method_of_tensor(where, call)]
    return [*chain(*said), *methods, *_kept_as_tensors(where, nodes)]


def _method_of_tensor(where: SourceLocation, call: ast.Call) -> Iterator[Edit]:
    """Yield edits for array methods that have another name or meaning in torch: `astype`; a
    variance without Bessel's correction.
    """
    name, editor = operation(call), where.editor
    if not isinstance(call.func, ast.Attribute):
        return
    if name == "astype" and call.args:
        kind = spelled(call.args[0]).rpartition(".")[2]
        start, end = editor.span(call.func.value)[1], editor.span(call)[1]
        yield Edit(where.module.path, start, end, f".to({alias(where.module, 'torch')}.{kind})")
    named = {keyword.arg for keyword in call.keywords}
    if name in ("std", "var") and not named & {"ddof", "correction", "unbiased"}:
        yield with_keyword(editor, call, "correction", "0")


def _as_torch(where: SourceLocation, call: ast.Call) -> list[Edit]:
    """Return edits that turn a NumPy call into the torch call of the same name; for a number and a
    tensor, a `clamp`; for a list, Python's own `sum`, or a stack.
    """
    editor, name, torch = where.editor, operation(call), alias(where.module, "torch")
    limits = [a for a in call.args if isinstance(a, ast.Constant)]
    if name in ("maximum", "minimum") and len(limits) == 1 and len(call.args) == 2:
        other = next(a for a in call.args if a is not limits[0])
        bound = f"{'min' if name == 'maximum' else 'max'}={editor.text_of(limits[0])}"
        (start, end), (first, last) = editor.span(call), editor.span(other)
        return [
            Edit(where.module.path, start, first, f"{torch}.clamp("),
            Edit(where.module.path, last, end, f", {bound})"),
        ]
    if counted := counted_by_torch(editor, call):
        return counted
    edits = [editor.replace(call.func, f"{torch}.{name}")] if name in SHARED | _ALONG else []
    if name in _ALONG and len(call.args) == 1 and not call.keywords:
        edits.append(with_keyword(editor, call, "dim", "0"))
    return edits


def counted_by_torch(editor: Editor, call: ast.Call) -> list[Edit]:
    """Return edits that compute by torch what NumPy computes over a list of tensors
    (`np.mean(losses)`), or by Python's own `sum` for a literal list; empty for other calls.
    """
    name, module = operation(call), editor.module
    numpy, torch = alias(module, "numpy"), alias(module, "torch")
    if spelled(call.func) != f"{numpy}.{name}" or name not in _OF_LISTS or call.keywords:
        return []
    if len(call.args) != 1 or not is_sequence(module, call, call.args[0]):
        return []
    if name == "sum" and isinstance(call.args[0], _LISTS):
        return [editor.replace(call.func, "sum")]
    stacked = [editor.replace(call.func, f"{torch}.stack")]
    return stacked if name == "array" else [*stacked, editor.append_to(call, f".{name}()")]


def _kept_as_tensors(where: SourceLocation, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Yield edits that remove `.detach().cpu().numpy()`, and a tensor created from the result."""
    editor, path = where.editor, where.module.path
    inner: list[ast.expr] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or node in inner:
            continue
        if is_call(node, "torch.Tensor.numpy"):
            base: ast.expr = node
            while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute):
                if base.func.attr not in _LEAVING:
                    break
                inner.append(base)
                base = base.func.value
            yield Edit(path, editor.span(base)[1], editor.span(node)[1], "")
        elif (
            is_call(
                node, "torch.Tensor.tensor", "torch.Tensor.as_tensor", "torch.Tensor.from_numpy"
            )
            and len(node.args) == 1
        ):
            (start, end), (first, last) = editor.span(node), editor.span(node.args[0])
            yield from (Edit(path, start, first, ""), Edit(path, last, end, ""))


def is_sequence(module: Module, node: ast.AST, argument: ast.expr, depth: int = 3) -> bool:
    """Return True if a value is clearly a list of tensors: a literal, a name, or from a function of
    the script.
    """
    match argument:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name)) if depth:
            function = module.function_named(name)
            given = returns_of(function)[:_MADE] if function is not None else []
            return bool(given) and all(
                r.value is not None and is_sequence(module, r, r.value, depth - 1) for r in given
            )
        case ast.Name() | ast.Attribute() if depth:
            made = definitions(module.scope_of(node), spelled(argument))[-_MADE:]
            values = [
                value for s in made if isinstance(value := getattr(s, "value", None), ast.expr)
            ]
            return any(is_sequence(module, node, value, depth - 1) for value in values)
    return False
