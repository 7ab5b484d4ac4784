"""Makes objects of the script's own classes, with synthesized arguments."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from .context import Harness
from .entries import Definition, definition, keyed_by_rest, left_out, unmade
from .roles import plain_name
from .uses import FUNCTIONS

_OF_MODULES = frozenset(dir(nn.Module))


class Building:
    """Builds objects of the classes defined in `tree`, one of each."""

    def __init__(self, harness: Harness, tree: ast.Module) -> None:
        self._harness = harness
        self._unmade = {node.name: node for node in unmade(tree)}
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        functions = (node for node in tree.body if isinstance(node, FUNCTIONS))
        self._idle = {node.name: node for node in functions if node.name not in read}
        self._made: dict[str, Any] = {}
        self._named: dict[str, str] = {}  # the path that the first of a class was made for
        self._begun: set[str] = set()  # what a class makes in its constructor is no other of it

    def own(self, path: str) -> Any:
        """Return an object of the script's class that an unbound name must denote; None for others.

        The class has what is asked of the name, or a similar name of its own.
        """
        use = self._harness.use(path)
        asked = use.asked - _OF_MODULES
        free = self._unmade.keys() - (self._begun - self._made.keys())
        known = [(n, kind) for n in sorted(free) if (kind := self._kind(n)) is not None]
        fitting = [n for n, kind in known if asked <= self._known(n, kind)]
        if use.keys:
            fitting = [n for n in fitting if hasattr(self._kind(n), "__getitem__")]
        if not asked:
            fitting = [n for n in fitting if self._is_called(n)]
        fitting = [n for n in fitting if all(self._takes(n, call) for call in use.called)]
        another = bool(asked) and len(fitting) == 1 and self._is_another(path, fitting[0])
        loosely = not asked and self._harness.role(path) == "function"  # its name has to say so
        if loosely or len(fitting) > 1 or (any(n in self._made for n in fitting) and not another):
            fitting = [n for n in fitting if _is_alike(plain_name(path), n)]
        if len(fitting) != 1 or self._is_named_by_another(path, fitting[0]):
            return None
        (name,) = fitting
        self._named.setdefault(name, path)
        return self.built(self._unmade[name], self._kind(name), another)

    def own_function(self, path: str) -> Any:
        """Return the one uncalled function of the script that fits every call of an unbound name.

        Each call must pass several values and some by their names. Return None for others, and for
        what calls it itself.
        """
        calls = self._harness.use(path).called
        if not path.isidentifier() or not calls or not all(map(_is_plain, calls)):
            return None
        fits = (n for n in self._idle.values() if all(_fits(n, call) for call in calls))
        fitting = [node.name for node in fits if not any(c in calls for c in ast.walk(node))]
        found = vars(sys.modules["__main__"]).get(fitting[0]) if len(fitting) == 1 else None
        if found is not None:
            text = f"`{path}` is not in the script: `{fitting[0]}`, which nothing calls, was used."
            self._harness.tell("name", path, text)
        return found

    def _is_named_by_another(self, path: str, name: str) -> bool:
        """Return True if another name of the script resembles a class, and this one does not."""
        others = (
            other for other in self._harness.uses.of if other.isidentifier() and other != path
        )
        alike = any(_is_alike(o, name) and self._harness.use(o).called for o in others)
        return alike and not _is_alike(plain_name(path), name)

    def _is_another(self, path: str, name: str) -> bool:
        """Return True if a plain name denotes one more object of a class, besides that of
        another."""
        first = self._named.get(name, "")
        return path.isidentifier() and first.isidentifier() and path != first

    def _kind(self, name: str) -> Any:
        kind = vars(sys.modules["__main__"]).get(name)
        return kind if isinstance(kind, type) else None

    def _known(self, name: str, kind: type) -> set[str]:
        """Return the attributes that objects of a class have."""
        own = (part for part in ast.walk(self._unmade[name]) if isinstance(part, ast.Attribute))
        return {part.attr for part in own if getattr(part.value, "id", "") == "self"} | {*dir(kind)}

    def _is_called(self, name: str) -> bool:
        return any(definition(self._unmade[name], call) for call in ("forward", "__call__"))

    def _takes(self, name: str, call: ast.Call) -> bool:
        """Return True if objects of a class can be called with as many arguments as a call
        passes."""
        node = self._unmade[name]
        called = definition(node, "forward") or definition(node, "__call__")
        if called is None or any(isinstance(a, ast.Starred) for a in call.args):
            return True
        wanted = called.args
        most = len(wanted.posonlyargs) + len(wanted.args) - 1
        given = len(call.args) + len(call.keywords)
        open_ended = wanted.vararg is not None or wanted.kwarg is not None
        if any(keyword.arg is None for keyword in call.keywords):
            return True
        return most - len(wanted.defaults) <= given and (open_ended or given <= most)

    def built(self, node: ast.ClassDef, kind: Any, another: bool = False) -> Any:
        """Return an object of the class, the same each time, or one more; gaps are synthesized."""
        if node.name in self._made and not another:
            return self._made[node.name]
        self._begun.add(node.name)
        init = definition(node, "__init__")
        args = self.arguments(f"{node.name}.__init__", init) if init is not None else []
        if init is not None and keyed_by_rest(init):
            args += self._words(self._named.get(node.name, ""))
        named = self.named(f"{node.name}.__init__", init) if init is not None else {}
        thing = kind(*args, **named)
        harness, own = self._harness, getattr(kind, "__getattr__", None)

        def missing(self: Any, name: str) -> Any:
            try:
                return own(self, name) if own is not None else object.__getattribute__(self, name)
            except AttributeError:
                return harness.attributes.missing(self, name)

        kind.__getattr__ = missing
        self._harness.values.setdefault("self", thing)
        self._made.setdefault(node.name, thing)
        if isinstance(thing, nn.Module):
            harness.attributes.layers(f"{node.name}.self", thing)
        return thing

    def arguments(self, name: str, node: Definition, skip_self: bool = True) -> list[Any]:
        """Return values for the arguments that have no default."""
        given = [*node.args.posonlyargs, *node.args.args]
        given = given[: len(given) - len(node.args.defaults)] if node.args.defaults else given
        if skip_self and given and given[0].arg in ("self", "cls", "ctx"):
            given = given[1:]
        models = [one for one in given if self._is_model(f"{name}.{one.arg}")]
        for one in models:  # an optimizer among the others is one of theirs
            self._argument(name, one.arg)
        return [self._argument(name, one.arg) for one in given]

    def _is_model(self, path: str) -> bool:
        return self._harness.role(path) == "module"

    def _argument(self, function: str, name: str) -> Any:
        if name == "self":
            return self._harness.load("self", None)
        if name in ("batch_idx", "batch_nb", "optimizer_idx"):
            return 0
        path, values = f"{function}.{name}", self._harness.values
        if (of_text := self._of_text(path, name)) is not None:
            return of_text
        if not self._is_model(path):
            return self._harness.make(path)
        if not isinstance(values.get(name), nn.Module):
            values[name] = self._harness.make(path)
        return values[name]

    def _of_text(self, path: str, name: str) -> Any:
        """Return the one model, optimizer or scheduler that the script makes under this name, or
        None.

        For example the `model_ft` of a function's `model`.
        """
        role = self._harness.role(path)
        kinds = {"module": nn.Module, "optimizer": Optimizer, "holder": LRScheduler}
        found = {
            key: value
            for key, value in vars(sys.modules["__main__"]).items()
            if f"_{name}_" in f"_{key}_" and isinstance(value, kinds.get(role, ()))
        }
        found = {name: found[name]} if name in found else found
        if len(found) != 1:
            return None
        ((key, value),) = found.items()
        self._harness.tell("name", path, f"`{path}` is not given in the script: `{key}` was used.")
        return value

    def _words(self, path: str) -> list[str]:
        """Return the keywords by which the script calls the methods of the value of a path."""
        calls = (
            call
            for other, use in self._harness.uses.of.items()
            if other.startswith(f"{path}.") and other.removeprefix(f"{path}.").isidentifier()
            for call in use.called
        )
        return list(dict.fromkeys(k.arg for call in calls for k in call.keywords if k.arg))

    def named(self, name: str, node: Definition) -> dict[str, Any]:
        """Return keyword arguments: those without a default, and what is read from all others."""
        wanted = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = {a.arg: self._argument(name, a.arg) for a, default in wanted if default is None}
        if self._harness.plan.optional and node.name != "__init__":
            named |= {one.arg: self._argument(name, one.arg) for one in left_out(node)}
        if node.args.kwarg is not None:
            path = f"{name}.{node.args.kwarg.arg}"
            keys = sorted(self._harness.use(path).keys)
            named |= {key: self._harness.make(f"{path}[{key!r}]") for key in keys}
        return named


def _is_plain(call: ast.Call) -> bool:
    """Return True if a call shows how many arguments it passes."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return not starred and all(keyword.arg for keyword in call.keywords)


def _fits(function: Definition, call: ast.Call) -> bool:
    """Return True if a function accepts a call's arguments."""
    wanted = function.args
    names = [one.arg for one in (*wanted.posonlyargs, *wanted.args)]
    known = {*names, *(one.arg for one in wanted.kwonlyargs)}
    given = len(call.args) + len(call.keywords)
    named = all(keyword.arg in known for keyword in call.keywords)
    alike = _words(ast.unparse(call)) & _words(" ".join(known))
    enough = max(len(names) - len(wanted.defaults), 2) <= given <= len(known)
    return named and bool(alike) and enough


def _words(text: str) -> set[str]:
    """Return the words of names: `log` and `ell` of `log_ell`."""
    return set(re.findall(r"[a-z]{2,}", text.lower()))


def _is_alike(name: str, of_class: str) -> bool:
    """Return True if a name resembles a class's: `netG` and `Generator`, `policy_net` and
    `PolicyNetwork`."""
    ours = re.sub(r"net|model|module|[^a-z]", "", name.lower())
    theirs = re.sub(r"[^a-z]", "", of_class.lower())
    return bool(ours) and (theirs.startswith(ours) or (ours in theirs[1:] and len(ours) > 2))
