"""What the project does with settings.

It indexes them (`cfg["model"]["width"]`, `cfg.model.width`), reads the file that they name
(`np.load(cfg.data.file)`, `root / cfg.file`), or computes with them (`step % cfg.every`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache

from .sources import texts

DEEP = 16  # parts of one expression that are looked at
MAX_PARSED = 1 << 20  # characters of the project, the first files first
_SETTINGS = re.compile(
    r"_?(?:c|cfg|conf|config|configs|configuration|hp|hparams|opts?|settings|spec)"
)
_PATHS = re.compile(r"(?:.*_)?(?:root|dir|path|folder|directory|home|parent|Path|cwd)")
_GIVING_BACK = frozenset({"to_container", "to_object", "dict", "copy", "deepcopy", "vars"})
_OF_MAPPINGS = frozenset({"get", "items", "keys", "values", "pop", "setdefault", "copy"})
_READERS = frozenset(
    {"open", "Path", "load", "read", "read_csv", "loadtxt", "genfromtxt", "fromfile", "imread"}
    | {"File", "exists", "isfile", "isdir", "listdir", "join", "makedirs", "ImageFolder", "glob"}
    | {"ModelCheckpoint", "SummaryWriter"}
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class SettingUse(Enum):
    """What the project does with a setting, as far as it shows."""

    PARTED = "takes it apart"
    COMPUTED = "computes with it"
    READ = "reads the file that it names"
    UNKNOWN = "something"


def use_of(name: str, within: str = "") -> SettingUse:
    """Return the use of the setting of this key within the key `within`, else of any of its
    name."""
    for key in (f"{within}.{name}", name):
        if key in _parted_keys():
            return SettingUse.PARTED
        if key in _computed_keys():
            return SettingUse.COMPUTED
        if key in _read_keys():
            return SettingUse.READ
    return SettingUse.UNKNOWN


def names_settings(name: str) -> bool:
    """Return True if settings are called so: `cfg`, `config`, `hparams`."""
    return _SETTINGS.fullmatch(name.lower()) is not None


@cache
def _parted_keys() -> frozenset[str]:
    """Return keys whose values are indexed, asked for attributes that no string has, or unpacked by
    `**`.

    The script does so with them directly, by a name, or in a function that they are passed to.
    """
    trees, nodes = _trees(), _nodes()
    parted = {name for node in nodes for name in _parted_by(node)}
    functions = {name: function for tree in trees for name, function in _functions(tree)}
    found = set[str]()
    for node in nodes:
        if (inner := _taken_from(node)) is not None:
            found |= _keys(inner)
        if isinstance(node, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id in parted for t in node.targets):
                found |= _keys(node.value)
        if isinstance(node, ast.Call):
            for argument, value in _handed(node, functions):
                found |= _keys(value) if argument in parted else set()
    return frozenset(found)


@cache
def _read_keys() -> frozenset[str]:
    """Return keys whose values are paths of files that something reads or writes, or parts of
    paths.

    They are so directly, or in a function that they are passed to.
    """
    read = [one for node in _nodes() for one in _read_by(node)]
    names = {one.id for one in read if isinstance(one, ast.Name)}
    functions = {name: function for tree in _trees() for name, function in _functions(tree)}
    for node in _nodes():
        if isinstance(node, ast.Call):
            read += [value for argument, value in _handed(node, functions) if argument in names]
    return frozenset(key for one in read for key in _keys(one))


@cache
def _computed_keys() -> frozenset[str]:
    """Return keys whose values are numbers: something computes with them, or counts up to them."""
    return frozenset(key for node in _nodes() for one in _computed_in(node) for key in _keys(one))


@cache
def _trees() -> tuple[ast.Module, ...]:
    return tuple(_parsed())


@cache
def _nodes() -> tuple[ast.AST, ...]:
    return tuple(node for tree in _trees() for node in ast.walk(tree))


def _parsed() -> Iterator[ast.Module]:
    left = MAX_PARSED
    for text in texts():
        left -= len(text)
        if left < 0:
            return
        try:
            yield ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _taken_from(node: ast.AST) -> ast.expr | None:
    """Return what is indexed here, or None."""
    match node:
        case ast.Subscript(value=inner, slice=ast.Constant(value=str())):
            return inner
        case ast.Attribute(value=inner, attr=name) if not hasattr(str, name):
            return inner
        case ast.Attribute(value=inner, attr=name) if name in _OF_MAPPINGS:
            return inner
        case ast.keyword(arg=None, value=ast.Call(args=[inner, *_]) as call) if (
            _name_of(call) in _GIVING_BACK
        ):
            return inner
        case ast.keyword(arg=None, value=inner):
            return inner
    return None


def _read_by(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call() if _name_of(node) in _READERS:
            yield from node.args
        case ast.Call(args=[_, written, *_]) if _name_of(node) in ("save", "save_image", "dump"):
            yield written
        case ast.keyword(arg=str(name), value=value) if _PATHS.fullmatch(name):
            yield value
        case ast.BinOp(left=before, op=ast.Div(), right=name) if _is_path(before):
            yield name


def _computed_in(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Add() | ast.BitOr() | ast.MatMult()):
            return  # of texts, mappings, matrices, too
        case ast.BinOp(left=ast.JoinedStr()):
            return
        case ast.BinOp(left=ast.Constant(value=str())):
            return
        case ast.BinOp(left=before, op=ast.Div()) if _is_path(before):
            return
        case ast.BinOp(left=before, right=after):
            yield from (before, after)
        case ast.Call(func=ast.Name(id="range"), args=given):
            yield from given


def _is_path(node: ast.expr) -> bool:
    """Return True if its name, or what it derives from, says that it is a path."""
    name = _first_name(node)
    return _PATHS.fullmatch(name) is not None or name in _names_of_paths()


@cache
def _names_of_paths() -> frozenset[str]:
    """Return names that are bound to a path, or annotated as one."""
    found = set[str]()
    for node in _nodes():
        match node:
            case ast.Assign(targets=[target], value=value):
                path = _PATHS.fullmatch(_first_name(value)) is not None
            case ast.AnnAssign(target=target, annotation=ast.Name(id=said)):
                path = said == "Path"
            case _:
                continue
        if path and (name := _first_name(target)):
            found.add(name)
    return frozenset(found)


def _first_name(node: ast.expr) -> str:
    """Return the first name of an expression: `base` of `base / "runs" / name`."""
    for _ in range(DEEP):
        match node:
            case ast.Call(func=inner) | ast.BinOp(left=inner, op=ast.Div()):
                node = inner
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return name
            case _:
                break
    return ""


def _parted_by(node: ast.AST) -> Iterator[str]:
    inner = _taken_from(node)
    if isinstance(inner, ast.Name):
        yield inner.id


def _keys(node: ast.expr) -> set[str]:
    """Return the key of a setting that this reads, alone and with the key that contains it."""
    key = _key(node)
    if key is None:
        return set()
    outer = _key(node.value) if isinstance(node, ast.Subscript | ast.Attribute) else None
    return {key} if outer is None else {key, f"{outer}.{key}"}


def _key(node: ast.expr) -> str | None:
    """Return the key of a setting: a string index, or an attribute of settings."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Attribute(value=inner, attr=key) if _holds_settings(inner):
            return key
    return None


def _holds_settings(node: ast.expr) -> bool:
    for _ in range(DEEP):
        match node:
            case ast.Name(id=name):
                return names_settings(name)
            case ast.Attribute(value=inner, attr=name):
                if names_settings(name):
                    return True
                node = inner
            case ast.Subscript(value=inner, slice=ast.Constant(value=str())):
                node = inner
            case _:
                break
    return False


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield functions by their names, constructors by those of their classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, Function) and part.name == "__init__":
                    yield node.name, part
        elif isinstance(node, Function):
            yield node.name, node


def _handed(call: ast.Call, functions: dict[str, Function]) -> Iterator[tuple[str, ast.expr]]:
    """Yield a call's arguments, by the function's names for them."""
    function = functions.get(_name_of(call))
    if function is None:
        return
    names = [one.arg for one in function.args.args]
    if names[:1] == ["self"]:
        names = names[1:]
    yield from zip(names, call.args, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg)


def _name_of(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))
