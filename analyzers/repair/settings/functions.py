"""Fix custom Functions, which return one gradient for each input, of its shape; and functions for
`torch.func`: no writes into tensors without a batch, no backward call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.advice.custom_functions import function_class, gradient_unused
from analyzers.evidence import Evidence, KnownError
from analyzers.explain.listed import some
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import joined
from analyzers.source.callees import operation
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import statements_of
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import walk

_OPEN = (ast.BinOp, ast.IfExp, ast.Compare, ast.Lambda)  # what binds no closer than a product
_NO_DERIVATIVE = "not-the-derivative"  # the error of a gradcheck
Methods = dict[str, ast.FunctionDef]
_FILLED = {"zeros": "new_zeros", "ones": "new_ones", "empty": "new_empty", "full": "new_full"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def functions(project: Project) -> Iterator[tuple[Module, ast.ClassDef, Methods]]:
    """Yield the script's own Functions with their methods."""
    for module, node in project.each(ast.ClassDef):
        if function_class(node, module) is not None:
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            yield module, node, methods


def inputs_of(methods: Methods) -> list[str] | None:
    """Return the names of the forward's inputs, without `ctx`; None if their number is variable."""
    forward = methods.get("forward")
    if forward is None or forward.args.vararg is not None:
        return None
    names = [a.arg for a in (*forward.args.posonlyargs, *forward.args.args)]
    return names if "setup_context" in methods else names[1:]


def returned(method: ast.FunctionDef | None) -> list[tuple[ast.Return, list[ast.expr]]]:
    """Return what a backward returns, value by value."""
    found = []
    for node in walk(method) if method is not None else ():
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            found.append((node, parts))
    return found


def index_in(message: str) -> int | None:
    """Return the index of the gradient that a message calls invalid."""
    found = re.search(r"invalid gradient at index (\d{1,4})", message)
    return int(found[1]) if found is not None else None


def _of_number(
    error: KnownError, project: Project
) -> Iterator[tuple[Module, ast.ClassDef, Methods]]:
    """Yield the Functions that an error about the number or order of gradients is about."""
    for module, node, methods in functions(project) if error.entry != _NO_DERIVATIVE else ():
        if not error.names or node.name in error.names:
            yield module, node, methods


def one_for_each(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that returns None for missing inputs, and drops
    surplus values at the end.
    """
    for module, node, methods in _of_number(error, project):
        inputs = inputs_of(methods)
        if inputs is None:
            continue
        edits: list[Edit] = []
        for statement, parts in returned(methods.get("backward")):
            editor = Editor(module)
            texts = [editor.text_of(part) for part in parts][: len(inputs)]
            texts += ["None"] * (len(inputs) - len(texts))
            if len(parts) != len(inputs):
                edits.append(editor.replace(statement, f"return {', '.join(texts)}"))
        if edits:
            title = f"Return one gradient for each input of `{node.name}`"
            least = min(len(parts) for _, parts in returned(methods.get("backward")))
            yield Proposal("one-for-each", title, joined(edits), _without(inputs[least:]))


def _without(inputs: Sequence[str]) -> str:
    if not inputs:
        return ""
    get = "gets" if len(inputs) == 1 else "get"
    return f"{some(inputs)} {get} no gradient: return the derivative where one is to learn."


def in_order(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield proposals that swap the gradient that does not fit its input with another one, or
    transpose it.
    """
    index = index_in(error.message)
    for module, node, methods in _of_number(error, project) if index is not None else ():
        for statement, parts in returned(methods.get("backward")):
            if index is not None and index < len(parts):
                yield from _exchanged(Editor(module), node.name, statement, parts, index)


def _exchanged(
    editor: Editor, name: str, statement: ast.Return, parts: list[ast.expr], index: int
) -> Iterator[Proposal]:
    texts = [editor.text_of(part) for part in parts]
    for other in range(len(parts)):
        if other != index and texts[other] != texts[index] and texts[other] != "None":
            moved = list(texts)
            moved[index], moved[other] = texts[other], texts[index]
            edit = editor.replace(statement, f"return {', '.join(moved)}")
            title = f"Return the gradients of `{name}` in the order of its inputs"
            yield Proposal("in-order", title, (edit,), "", 1)
    title = f"Transpose the gradient that `{name}` returns for input {index + 1}"
    edit = editor.append_to(parts[index], ".t()")
    yield Proposal("transposed", title, (edit,), "", 2)


def times_what_is_given(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that multiplies the derivatives that a backward returns by the gradient that
    it is given and does not read.
    """
    for module, node, methods in functions(project) if error.entry == _NO_DERIVATIVE else ():
        edits: list[Edit] = []
        for statement, parts in returned(methods.get("backward")):
            if gradient_unused(statement, module) is None:
                continue
            editor, given = Editor(module), methods["backward"].args.args[1:]
            derivatives = [part for part in parts if editor.text_of(part) != "None"]
            for part in derivatives if len(given) == 1 else ():
                text = editor.text_of(part)
                text = f"({text})" if isinstance(part, _OPEN) else text
                edits.append(editor.replace(part, f"{given[0].arg} * {text}"))
        if edits:
            title = f"Multiply what `{node.name}` returns by the gradient that it is given"
            yield Proposal("times-given", title, joined(edits))


def batched_by_rule(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with a Function that vmap batches by its own methods."""
    for module, node, methods in functions(project):
        if "vmap" not in methods and "setup_context" in methods:
            edit = Editor(module).insert_before(node.body[0], "generate_vmap_rule = True")
            title = f"Have vmap batch `{node.name}` by what its methods do"
            yield Proposal("vmap-rule", title, (edit,), "", 1)


def written_out_of_place(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with `total = total + x`; else one that creates the
    target from an argument.
    """
    where = resolve_location(project, error.at)
    if where is None:
        return
    write = where.statement
    if isinstance(write, ast.AugAssign) and isinstance(write.target, ast.Name):
        name = write.target.id
        sign = _SIGNS.get(type(write.op))
        if sign is not None:
            text = f"{name} = {name} {sign} {_operand(where, write.value)}"
            title = f"Compute a new `{name}` in place of writing into it"
            yield Proposal("out-of-place", title, (where.editor.replace(write, text),))
    yield from _of_what_comes_in(where)


def _operand(where: SourceLocation, value: ast.expr) -> str:
    text = where.editor.text_of(value)
    return f"({text})" if isinstance(value, ast.BinOp | ast.IfExp) else text


def _of_what_comes_in(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal with `x.new_zeros(n)`, for the function's first argument, instead of
    `torch.zeros(n)`.
    """
    function = where.scope
    if not isinstance(function, FUNCTIONS[:2]) or not function.args.args:
        return
    source = function.args.args[0].arg
    edits: list[Edit] = []
    for statement in statements_of(function):
        value = statement.value if isinstance(statement, ast.Assign) else None
        made = isinstance(value, ast.Call) and operation(value) in _FILLED
        if made and isinstance(value, ast.Call) and spelled(value.func).startswith("torch."):
            edits.append(where.editor.replace(value.func, f"{source}.{_FILLED[operation(value)]}"))
    if edits:
        title = f"Make what is written into of `{source}`, which has the batch"
        yield Proposal("of-the-batch", title, joined(edits), "", 1)


def returned_loss(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that removes a backward call within the function: the transform takes the
    gradient.
    """
    where = resolve_location(project, error.at)
    call = where.call("torch.Tensor.backward") if where is not None else None
    if where is None or call is None or not isinstance(where.statement, ast.Expr):
        return
    title = "Leave the gradient to the transform"
    yield Proposal("no-backward", title, (where.editor.delete(where.statement),), "", 2)
