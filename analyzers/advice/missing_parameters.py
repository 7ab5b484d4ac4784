"""Where a module or an optimizer has no parameters, or a tensor no gradient: named looks."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from analyzers.advice.iterations import WRAPPERS
from analyzers.advice.looking import REGISTERING, last_name, short
from analyzers.source.backward import backward_calls, backward_root, starts_later
from analyzers.source.callees import is_call, keyword
from analyzers.source.calls import asks_for_gradient, makes_leaf, steps
from analyzers.source.flow import definitions, names_read, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of

_ALIKE = 0.85  # of a name to another, which is then meant
_BUILTIN = frozenset(dir(builtins))
_MODULES = ("Module", "MessagePassing", "LightningModule", "PreTrainedModel")
_SAMPLE = re.compile(r"^[a-z]$|^eps|noise|hidden|state|input|data|batch|target|sample|fixed|mask")
_BUFFERS = ("Buffer", "register_buffer")
_GENERATORS = ("parameters", "named_parameters", "filter", "map", "chain", "zip")
_DRAINED_BY = 2  # reads of a generator, of which the second finds nothing


def plain_tensor(node: ast.AST, module: Module) -> str | None:
    """Match `self.keys = torch.randn(...)`: an attribute that starts with random numbers, as what
    learns does, or with values of a file, and is no parameter.
    """
    if not isinstance(node, ast.Assign) or not spelled(node.targets[0]).startswith("self."):
        return None
    if _SAMPLE.search(last_name(node.targets[0])):
        return None
    made = nodes_of(node.value, ast.Call)
    drawn = any(last_name(call.func) in ("randn", "rand", "normal") for call in made)
    drawn = drawn or not _loaded(module).isdisjoint(names_read(node.value))
    known = any(last_name(call.func) in (*REGISTERING, *_BUFFERS) for call in made)
    return short(node.targets[0]) if drawn and not known else None


def _loaded(module: Module) -> set[str]:
    """Return the names to which what `torch.load` returns is bound."""
    return {
        name
        for made in module.each(ast.Assign)
        if isinstance(made.value, ast.Call) and is_call(made.value, "torch.load")
        for name in assigned(made)
    }


def frozen_adapters(node: ast.AST, module: Module) -> str | None:
    """Match `PeftModel.from_pretrained(...)` without `is_trainable=True`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="from_pretrained") as func):
            trainable = keyword(node, "is_trainable")
            return short(func) if "Peft" in spelled(owner) and trainable is None else None
    return None


def used_up_generator(node: ast.AST, module: Module) -> str | None:
    """Match `params = filter(…)` that more than one place goes through."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    value, name = node.value, node.targets[0].id
    called = last_name(value.func) if isinstance(value, ast.Call) else ""
    if called not in _GENERATORS and not isinstance(value, ast.GeneratorExp):
        return None
    scope = module.scope_of(node)
    reads = names_loaded(nodes_of(scope, ast.Name), name)
    return name if len(reads) >= _DRAINED_BY and len(definitions(scope, name)) == 1 else None


def through_unsent(node: ast.AST, module: Module) -> str | None:
    """Match the only call that takes a leaf whose `.grad` is read, of a function that the lines
    call and do not define: `r = rand(3, requires_grad=True)`, `T = to_matrix(r)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    name, scope = node.func.id, module.scope_of(node)
    if name in _known_names(module) or module.in_library(name) or not backward_calls(module.tree):
        return None
    attributes = [(spelled(a.value), a.attr) for a in module.each(ast.Attribute)]
    reads = [n.id for n in module.each(ast.Name) if isinstance(n.ctx, ast.Load)]
    for given in (a.id for a in node.args if isinstance(a, ast.Name)):
        own = sum(owner == given for owner, _ in attributes)
        if (given, "grad") in attributes and reads.count(given) == own + 1:
            if any(map(_is_leaf, definitions(scope, given))):
                return name
    return None


def gradient_unread(node: ast.AST, module: Module) -> str | None:
    """Match a leaf that requires a gradient, where lines call backward and read no `.grad`."""
    if not isinstance(node, ast.Assign) or not _is_leaf(node) or not backward_calls(module.tree):
        return None
    read = bool(steps(module.tree)) or any(a.attr == "grad" for a in module.each(ast.Attribute))
    return short(node.targets[0]) if not read else None


def optimizer_of_data(node: ast.AST, module: Module) -> str | None:
    """Match `Adam([batch.x])`: what an object from elsewhere holds, which no line makes a leaf."""
    match node:
        case ast.Call(args=[ast.List(elts=[ast.Attribute() as held]), *_]):
            root = held.value.id if isinstance(held.value, ast.Name) else ""
            optimizer = module.names.qualified(node.func).startswith("torch.optim.")
            named = optimizer and root not in ("", "self")
            flagged = "requires_grad" in module.text or definitions(module.tree, spelled(held))
            return spelled(held) if named and not flagged else None
    return None


def optimizer_of_another(node: ast.AST, module: Module) -> str | None:
    """Match `SGD(a.parameters())` where no line makes `a`, and another model is made."""
    if not isinstance(node, ast.Call):
        return None
    if not module.names.qualified(node.func).startswith("torch.optim."):
        return None
    for given in [*node.args[:1], *(k.value for k in node.keywords if k.arg == "params")]:
        match given:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="parameters")):
                unsent = owner not in _known_names(module)
                return spelled(given) if unsent and _makes_own_model(module) else None
    return None


def _makes_own_model(module: Module) -> bool:
    """Return True if a line names an instance of a class that stands in the module."""
    own = {n.name for n in module.each(ast.ClassDef) if n.bases}
    made = (n.value for n in module.each(ast.Assign) if isinstance(n.value, ast.Call))
    return any(last_name(call.func) in own for call in made)


def _known_names(module: Module) -> set[str]:
    """Return the names that a module defines, binds or is given, and Python's own."""
    bound = {n.id for n in module.each(ast.Name) if isinstance(n.ctx, ast.Store)}
    functions = {n.name for n in module.each(ast.FunctionDef)}
    classes = {n.name for n in module.each(ast.ClassDef)}
    return bound | functions | classes | {a.arg for a in module.each(ast.arg)} | _BUILTIN


def _is_leaf(made: ast.stmt) -> bool:
    value = value_of(made)
    return isinstance(value, ast.Call) and asks_for_gradient(value)


def flag_without_effect(node: ast.AST, module: Module) -> str | None:
    """Match `w[3:].requires_grad = True`, of a new tensor, and a flag that is misspelt."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=owner, attr=name) as target]):
            alike = SequenceMatcher(None, name, "requires_grad").ratio() > _ALIKE
            part = isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Slice)
            flag = isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)
            return short(target) if flag and alike and (part or name != "requires_grad") else None
    return None


def module_without_parameters(node: ast.AST, module: Module) -> str | None:
    """Match the class of a module whose parameters are asked for, and that makes no layer and no
    `nn.Parameter`.
    """
    if not isinstance(node, ast.ClassDef):
        return None
    if not any(last_name(base).endswith(_MODULES) for base in node.bases):
        return None
    called = {last_name(n.func) for n in nodes_of(node, ast.Call)}
    made = any(name[:1].isupper() for name in called) or not called.isdisjoint(REGISTERING)
    whole = any(isinstance(n, ast.FunctionDef) for n in node.body)  # else it was cut off
    return node.name if whole and not made and node.name in _asked(module) else None


def _asked(module: Module) -> Iterator[str]:
    """Yield the classes whose objects are asked for their parameters."""
    made = {spelled(t): n.value for n in module.each(ast.Assign) for t in n.targets}
    for node in module.each(ast.Attribute):
        if node.attr in ("parameters", "named_parameters"):
            value = made.get(spelled(node.value), node.value)
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                value = value.func.value  # `Net().to(device)`
            if isinstance(value, ast.Call):
                yield last_name(value.func)


def loss_of_unsent(node: ast.AST, module: Module) -> str | None:
    """Match `loss = circle_loss(x, y)` of a function that the lines call and do not define, where
    a backward starts from that name."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called))):
            known = called in _known_names(module) or module.in_library(called)
            roots = {spelled(root) for call in backward_calls(module.tree)
                     if (root := backward_root(call)) is not None}  # fmt: skip
            return called if name in roots and not known and not called[:1].isupper() else None
    return None


def result_unused(node: ast.AST, module: Module) -> str | None:
    """Match `target = model(y)` of a module that is called elsewhere, too, where nothing reads the
    result and a backward follows."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called))):
            wrapped = [n for n in module.each(ast.Assign) if _wraps(n.value)]
            if not any(called in map(spelled, n.targets) for n in wrapped):
                return None
            calls = sum(spelled(c.func) == called for c in module.each(ast.Call))
            read = names_loaded(module.each(ast.Name), name)
            return name if calls > 1 and not read and backward_calls(module.tree) else None
    return None


def _wraps(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and last_name(value.func) in WRAPPERS[:2]


def loss_of_numbers(node: ast.AST, module: Module) -> str | None:
    """Match `loss = torch.tensor([f(x) for x in xs], requires_grad=True).sum()`: losses that a new
    leaf is filled with, from which a backward starts."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            if not makes_leaf(call) or not starts_later(node, name, module):
                return None
            while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
                call = call.func.value  # `torch.tensor(…).sum()`
            if last_name(call.func) in ("tensor", "Tensor", "FloatTensor") and call.args:
                parts = nodes_of(call.args[0], ast.Call, ast.Name)
                names = (last_name(p.func if isinstance(p, ast.Call) else p) for p in parts)
                if any(re.search(r"loss|criteri", each.lower()) for each in names):
                    return short(call.func)
    return None
