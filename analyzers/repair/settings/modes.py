"""Change modes: `no_grad` instead of inference mode, a kernel with a second derivative, no
compiler, and arguments of DDP.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.advice.looking import compiled
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import alias, joined, missing_import, wrapped
from analyzers.repair.rewrite import with_keyword, without_true
from analyzers.source.callees import is_call
from analyzers.source.calls import each_call
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from provenance import CodeLine

_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
_MATH = "with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):"
_WRAPPERS = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.DDP")


def without_inference_mode(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield proposals with `torch.no_grad()` instead of inference mode: at
    each place, then at all.
    """
    each = [edit for module in project.modules.values() for edit in _no_grad(module)]
    title = "Use `torch.no_grad()` in place of inference mode"
    if len(each) > 1:
        yield Proposal("no-grad-instead", f"{title}, everywhere", tuple(each), "", len(each))
    for number, edit in enumerate(each):
        yield Proposal("no-grad-instead", title, (edit,), "", number)


def _no_grad(module: Module) -> Iterator[Edit]:
    editor = Editor(module)
    for node in module.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if spelled(node).rpartition(".")[2] != "inference_mode":
            continue
        text = spelled(node)
        switched = f"{alias(module, 'torch')}.no_grad" if "." not in text else text.replace(
            "inference_mode", "no_grad"
        )  # fmt: skip
        yield editor.replace(node, switched)


def uncompiled(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that removes compilation: `torch.compile(f, …)` → `f`, or a decorator."""
    edits = [edit for module in project.modules.values() for edit in _uncompiled(module)]
    if edits:
        title = "Leave that part uncompiled"
        yield Proposal("uncompiled", title, tuple(edits), "It runs at the speed of eager.")


def compiled_lines(project: Project) -> Iterator[CodeLine]:
    """Yield the lines on which something is compiled."""
    for module in project.modules.values():
        for node in module.nodes:
            if compiled(node, module) is not None:
                yield CodeLine(module.path, getattr(node, "lineno", 1))


def _uncompiled(module: Module) -> Iterator[Edit]:
    editor = Editor(module)
    for function in (n for n in module.nodes if isinstance(n, (*FUNCTIONS[:2], ast.ClassDef))):
        for decorator in getattr(function, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if module.names.qualified(called) == "torch.compile":
                yield editor.delete_lines(decorator)
    for call in module.each(ast.Call):
        in_decorator = module.parents.get(call)
        if any(call is d for d in getattr(in_decorator, "decorator_list", ())):
            continue
        if not is_call(call, "torch.compile"):
            continue
        if module.names.qualified(call.func) == "torch.compile" and call.args:
            yield _without_compile(editor, call, module.parents.get(call))
        elif isinstance(call.func, ast.Attribute):
            statement = module.parents.get(call)
            if isinstance(statement, ast.Expr) and not call.args:
                yield editor.delete(statement)


def _without_compile(editor: Editor, call: ast.Call, statement: ast.AST | None) -> Edit:
    """Return the edit `torch.compile(f, …)` → `f`; without the statement where it is `f = …`."""
    text = editor.text_of(call.args[0])
    match statement:
        case ast.Assign(targets=[target]) if editor.text_of(target) == text:
            if len(editor.module.block_of(statement)) > 1:
                return editor.delete(statement)
    return editor.replace(call, text)


def on_math_kernel(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that computes attention with the kernel that has a second derivative."""
    for module, call in each_call(project, _ATTENTION):
        statement, editor = module.statement_at(call.lineno, call.col_offset), Editor(module)
        text = _MATH.replace("torch.", f"{alias(module, 'torch')}.")
        edit = wrapped(editor, [statement], text) if statement is not None else None
        if edit is not None:
            edits = joined((*missing_import(editor), edit))
            title = "Compute attention with the kernel that has a second derivative"
            yield Proposal("math-kernel", title, edits, "It needs more memory.")


def _wrappers(project: Project) -> Iterator[tuple[Module, ast.Call]]:
    for module, call in project.each(ast.Call):
        if is_call(call, *_WRAPPERS):
            yield module, call


def all_used(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal for DDP without `find_unused_parameters`."""
    for module, call in _wrappers(project):
        for edit in without_true(Editor(module), call, "find_unused_parameters"):
            yield Proposal("all-used", "Do not count parameters as unused", (edit,), "", 1)


def static_graph(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that declares to DDP that every iteration is alike."""
    for module, call in _wrappers(project):
        edit = with_keyword(Editor(module), call, "static_graph")
        title = "Tell DDP that every iteration is alike"
        tradeoff = "It is right only if every iteration uses the same parameters in the same way."
        yield Proposal("static-graph", title, (edit,), tradeoff, 2)
