"""Resolve what calls call: a library's function or class, a method of an object, own functions.

A callee is compared with qualified names such as `torch.Tensor.detach`. Names that belong to the
same kind of object match each other (`torch.Tensor.relu`, `torch.nn.functional.relu`). If nothing
in the file says what a receiver is, the last part of the name decides, as in incomplete code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from analyzers.source.name_resolution import Names, names_of
from analyzers.source.object_sources import Makers
from analyzers.source.ops import FACTORIES, NO_GRAPH, UNKNOWN, op
from analyzers.source.scope_bindings import Def

# The kind of object to which the names below a prefix belong; the longest prefix counts.
_KINDS = {
    "torch": "tensor",
    "torch.optim": "optimizer",
    "torch.optim.lr_scheduler": "scheduler",
    "torch.optim.swa_utils": "module",
    "torch.nn": "module",
    "torch.nn.functional": "tensor",
    "torch.nn.init": "tensor",
    "torch.nn.utils": "tensor",
    "torch.nn.Parameter": "tensor",
    "torch.nn.parameter": "tensor",
    "torch.distributions": "distribution",
    "torch.amp": "scaler",
    "torch.cuda.amp": "scaler",
    "torch.utils.data": "data",
    "torch.utils.tensorboard": "log",
    "tensorboardX": "log",
    "wandb": "log",
    "numpy": "array",
    "math": "array",
    "pandas": "table",
    "gym": "environment",
    "gymnasium": "environment",
    "collections": "container",
    "queue": "container",
    "list": "container",
} | dict.fromkeys(sorted(sys.stdlib_module_names - {"collections", "math", "queue"}), "python")
_ALIKE = {
    frozenset(pair)
    for pair in (
        *(("tensor", "module"), ("tensor", "array"), ("container", "module")),
        *(("optimizer", "scaler"),),
    )
}
_MAKING_CLASSES = ("collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass")
_LITERALS = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp)


def plain_name(call: ast.Call) -> str:
    """Return the last part of what is called, through aliases: `step` for `self.optimizer.step()`,
    `cat` for `joined()` after `from torch import cat as joined`.
    """
    match call.func:
        case ast.Attribute(attr=name):
            return name
        case ast.Name(id=name) as func:
            names = names_of(call)
            return names.qualified(func).rpartition(".")[2] or name if names is not None else name
    return ""


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """Return what a call gives by the first of its keywords that has one of these names."""
    return next((given.value for given in call.keywords if given.arg in names), None)


def operation(call: ast.Call) -> str:
    """Return the operation on tensors that a call may apply: `relu` for `F.relu(x)`; empty if it is
    known to call something else.
    """
    name = plain_name(call)
    return name if name and is_call(call, f"torch.Tensor.{name}") else ""


def is_call(call: ast.Call, *wanted: str) -> bool:
    """Return True if a call may be one of these, given as qualified names."""
    name = plain_name(call)
    return any(one.rpartition(".")[2] == name and _matches(call, one) for one in wanted)


def own_name(call: ast.Call) -> str:
    """Return the plain name of the script's own function or class that a call may call; empty if it
    is known to call a library's.
    """
    for target in _targets(call):
        if isinstance(target, ast.AST):
            return target.name
        if not _kind(target):  # unknown, or imported from a file of the script
            return target.rpartition(".")[2] or plain_name(call)
    return ""


def definitions_called(call: ast.Call) -> list[Def] | None:
    """Return the definitions of the script that a call may call; None if it may call others that
    are not known.
    """
    targets = _targets(call)
    if any(isinstance(one, str) and not _kind(one) for one in targets):
        return None
    return [one for one in targets if isinstance(one, ast.AST)]


def creates_object(call: ast.Call) -> bool:
    """Return True if a call creates an object of a class; an unknown callee is judged by a capital
    letter.
    """
    targets, names = _targets(call), names_of(call)
    known = [isinstance(one, ast.ClassDef) for one in targets if isinstance(one, ast.AST)]
    if known:
        return all(known)
    made = [*Makers(names).of(call.func)] if targets == [""] and names is not None else []
    objects = [path for path, value in made if isinstance(value, ast.Call)]
    if objects:
        return any(path in _MAKING_CLASSES for path in objects)
    return plain_name(call)[:1].isupper()


def creates_module(call: ast.Call) -> bool | None:
    """Return True if a call creates an object of a class of modules, False if of another class or
    by no class; None if nothing is known of the class.
    """
    names = names_of(call)
    known = {_is_module(target, plain_name(call), names) for target in _targets(call)}
    return known.pop() if len(known) == 1 else None


def in_library(call: ast.Call) -> bool:
    """Return True if what is called leads into a declared package: `torch.exp`, `np.random.rand`,
    `torch.ones(2).exp`.
    """
    names, root = names_of(call), call.func
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    return names is not None and bool(_kind(names.qualified(root)))


def _is_module(target: str | Def, name: str, names: Names | None) -> bool | None:
    if isinstance(target, str):
        is_class, kind = name[:1].isupper(), _kind(target)
        return is_class and kind == "module" if kind or not is_class else None
    if not isinstance(target, ast.ClassDef) or names is None:
        return False
    bases = names.bases(target)
    named = any(_kind(base) == "module" or base.endswith("Module") for base in bases)
    return named or (None if bases else False)


def _matches(call: ast.Call, wanted: str) -> bool:
    return any(_is_same(target, wanted) for target in _targets(call))


def _is_same(target: str | Def, wanted: str) -> bool:
    if isinstance(target, str):
        kinds = {_kind(target), _kind(wanted)}
        return len(kinds) == 1 or "" in kinds or kinds in _ALIKE
    return True


def _targets(call: ast.Call) -> list[str | Def]:
    """Return what a call may call, as qualified names or definitions of the file; an empty string
    for what is unknown.
    """
    names = names_of(call)
    if names is None:
        return [""]
    if call not in names.targets:
        names.targets[call] = list(dict.fromkeys(_resolved(names, call.func))) or [""]
    return names.targets[call]


def _resolved(names: Names, func: ast.expr) -> Iterator[str | Def]:
    path = names.qualified(func)
    if path.startswith("."):
        yield from _defined(names, path)
    elif path or not isinstance(func, ast.Attribute):
        yield path
    else:
        yield from _methods(names, func)


def _defined(names: Names, path: str) -> Iterator[Def]:
    """Yield the functions and classes of the file that a qualified name denotes."""
    owner, _, name = path[1:].rpartition(".")
    if owner:
        own = names.own_class(f".{owner}")
        method = names.method(own, name) if own is not None else None
        yield from [method] if method is not None else []
    else:
        yield from names.definitions(name)


def _methods(names: Names, func: ast.Attribute) -> Iterator[str | Def]:
    """Yield what a method may be, by the classes of its receiver."""
    for path, made in Makers(names).of(func.value):
        if isinstance(made, _LITERALS):
            yield f"list.{func.attr}"
        elif path.startswith(".") and (own := names.own_class(path)) is not None:
            yield from _method_of(names, own, func.attr)
        elif isinstance(made, ast.Call | ast.Name | ast.Attribute) and path:
            kind = _instance(path)
            yield f"{kind}.{func.attr}" if kind else ""
        else:
            yield ""


def _method_of(names: Names, own: ast.ClassDef, name: str) -> Iterator[str | Def]:
    if (method := names.method(own, name)) is not None:
        yield method
        return
    bases = [base for base in names.bases(own) if not base.startswith(".")]
    is_value = bool(names.held(own, name))
    yield from (f"{base}.{name}" if base and not is_value else "" for base in bases or [""])


def _instance(path: str) -> str:
    """Return the class of the object that a library's callable creates; empty if unknown."""
    last = path.rpartition(".")[2]
    if last[:1].isupper():
        return path
    match _kind(path):
        case "tensor" if last in FACTORIES or last in NO_GRAPH or op(last) is not UNKNOWN:
            return "torch.Tensor"
        case "array" | "environment" | "container":
            return path
    return ""


def _kind(path: str) -> str:
    """Return the kind of object to which a qualified name belongs; empty if it is not declared."""
    while path and path not in _KINDS:
        path = path.rpartition(".")[0]
    return _KINDS.get(path, "")
