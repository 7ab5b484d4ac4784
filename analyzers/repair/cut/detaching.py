"""Cut a structure of tensors from its history, in the idiom of its engine."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import remembered, walk
from analyzers.source.unpacking import whole_of
from analyzers.source.writes import is_true
from provenance import Referrer, ValueKind, ValuePart, ValueShape


@dataclass(frozen=True)
class Idiom:
    """How one tensor is detached: `template` holds `{0}` for the expression."""

    template: str = "{0}.detach()"

    def of(self, expression: str) -> str:
        """Return the detached form of one tensor."""
        return self.template.format(expression)

    def at(self, editor: Editor, node: ast.expr) -> Edit:
        """Return the edit that detaches an expression in place; of an expression that splits a
        tensor (`keys.unbind(0)`), the tensor.
        """
        node = whole_of(node)
        if self.template.startswith("{0}."):
            return editor.append_to(node, self.template.removeprefix("{0}"))
        text = editor.text_of(node)
        return editor.replace(node, self.of(f"({text})" if needs_parentheses(node) else text))


TORCH = Idiom()
LEAF = Idiom("{0}.detach().requires_grad_()")


def idiom_for(story: ReuseFeatures) -> Idiom:
    """Return PyTorch's `detach`, or what the script's own engine offers: its `detach` method, else
    its constructor around the bare data, with the flags that the script itself passes.
    """
    if story.reuse.engine == "torch":
        return TORCH
    engine = story.reuse.engine_class
    for module, node in story.project.each(ast.ClassDef):
        if node.name == engine:
            return _engine_idiom(node, module)
    calls = (call for _, call in story.project.each(ast.Call) if call.args)
    made = [call for call in calls if spelled(call.func) == engine]
    return _constructor_idiom(made) if made else TORCH


def idiom_by(gradient: str, project: Project) -> Idiom | None:
    """Return the same for the class whose constructor sets the attribute in which an engine keeps
    gradients; None if the source shows none.
    """
    for module, node in project.each(ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        held = {spelled(t) for m in methods for n in walk(m) for t, _ in assigned_pairs(n)}
        if f"self.{gradient}" in held:
            return _engine_idiom(node, module)
    return None


def _constructor_idiom(calls: list[ast.Call]) -> Idiom:
    """Return how the source creates values of a class whose definition is unknown: around another
    value's data, if it does so anywhere, and with the flags that it passes.
    """
    bare = [call for call in calls if isinstance(call.args[0], ast.Attribute)]
    like = next(iter(bare), calls[0])
    attribute = getattr(like.args[0], "attr", "data")
    return Idiom(f"{spelled(like.func)}({', '.join([f'{{0}}.{attribute}', *_true_flags(like)])})")


def _true_flags(call: ast.Call) -> list[str]:
    return [f"{k.arg}=True" for k in call.keywords if k.arg and is_true(k.value)]


def _engine_idiom(engine: ast.ClassDef, module: Module) -> Idiom:
    methods = {n.name: n for n in engine.body if isinstance(n, ast.FunctionDef)}
    init = methods.get("__init__")
    signature = init.args if init is not None else _fields(engine)
    arguments = [argument.arg for argument in signature.args[init is not None :]]
    required = arguments[: len(arguments) - len(signature.defaults)] or arguments[:1]
    if "detach" in methods or not required:
        return TORCH
    given = [f"{{0}}.{_attribute_holding(init, argument)}" for argument in required]
    made = [call for call in module.each(ast.Call) if spelled(call.func) == engine.name]
    flags = next(filter(None, map(_true_flags, made)), [])  # of a tracked leaf (`autograd=True`)
    return Idiom(f"{engine.name}({', '.join([*given, *flags])})")


def _fields(record: ast.ClassDef) -> ast.arguments:
    """Return the signature of the constructor that a dataclass gets from its fields."""
    fields = [s for s in record.body if isinstance(s, ast.AnnAssign)]
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(spelled(s.target), s.annotation) for s in fields],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[s.value for s in fields if s.value is not None],
    )


def _attribute_holding(init: ast.FunctionDef | None, argument: str) -> str:
    """Return the attribute in which the constructor stores an argument."""
    for statement in walk(init) if init is not None else ():
        for target, value in assigned_pairs(statement):
            if isinstance(target, ast.Attribute) and names_loaded(walk(value), argument):
                return target.attr
    return argument


def expected_shape(name: str, holder: Referrer | None, fields: Sequence[str] = ()) -> ValueShape:
    """Return the shape of what a name denotes, as far as a reference to it shows: its container,
    the depth of the tensors in its path, and for records these fields.
    """
    kind = ValueShape("tensor", graph=True)
    if holder is None or not holder.path.startswith(name + "["):
        return kind
    names = holder.container.replace("]", "").split("[")
    depth = holder.path[len(name) :].count("[")
    names = [*names, *["tuple"] * (depth - len(names))][:depth]
    if not holder.path.endswith("]"):  # a field of the records in the structure
        first = "dict" if "['" in holder.path else "list"
        names = [first if own == "Tensor" else own for own in names] + ["record"]
    for own in reversed(names):
        structure = _STRUCTURES.get(own, "record")
        keys = [repr(field) for field in fields] if structure == "record" else []
        parts = tuple(ValuePart(kind, key) for key in keys or [""])
        kind = ValueShape(structure, own, maxlen=own == "deque", parts=parts)
    return kind


_STRUCTURES: dict[str, ValueKind] = {
    "dict": "dict",
    "OrderedDict": "dict",
    "defaultdict": "dict",
    "list": "list",
    "tuple": "tuple",
    "Size": "tuple",
    "deque": "deque",
}


def starts_as_none(scope: ast.AST, name: str) -> bool:
    """Return True if the name may still be None when the loop begins."""
    values = values_given(scope, name)
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)


def may_be_none(scope: ast.AST, name: str) -> bool:
    """Return True if the scope tests whether the name is None: another option may make it so."""
    for node in walk(scope):
        match node:
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[other]):
                if spelled(left) == name and spelled(other) == "None":
                    return True
    return False


def values_given(scope: ast.AST, name: str) -> list[ast.expr]:
    """Return the values that plain assignments in a scope, nested ones included, bind to a name or
    a path.
    """
    return _values_given(scope).get(name, [])


@remembered
def _values_given(scope: ast.AST) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in walk(scope):
        pairs = assigned_pairs(node)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            found.setdefault(spelled(target), []).append(value)
    return found
