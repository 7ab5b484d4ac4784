"""Calls what a text defines and does not call, as training would."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from functools import partial
from inspect import getattr_static
from itertools import islice
from types import FunctionType, GeneratorType
from typing import Any

import torch

from .bodies import is_loss, last_result, loss_in
from .entries import (
    Definition,
    calls_backward,
    definition,
    entries,
    filled_in,
    fillers,
    is_method,
    is_static,
)
from .models import Optimizer
from .placeholders import Placeholder
from .synthesized_values import SynthesizedValues
from .uses import FUNCTIONS

PASSES = 12


class Driver:
    """Drives functions, methods and modules of the text whose file is `path`.

    `attempt(name, call)` runs one of them; the name is that of a function that could be left out.
    """

    def __init__(
        self,
        harness: SynthesizedValues,
        tree: ast.Module,
        path: str,
        attempt: Callable[[str, Any], None],
    ) -> None:
        self._harness = harness
        self._building = harness.building
        self._tree = tree
        self._path = path
        self._attempt = attempt
        self._names = vars(sys.modules["__main__"])
        self._before: dict[str, list[Definition]] = {}
        self._supplied: set[str] = set()
        self._used: set[str] = set().union(*(_loaded(node) for node in tree.body))

    def drive(self) -> None:
        """Call everything that nothing calls, first what calls backward itself."""
        targets = [node for node in self._tree.body if self._is_target(node)]
        for node in sorted(targets, key=lambda node: not calls_backward(node)):
            if any(node in before for before in self._before.values()):
                continue  # called before what reads what it fills
            if isinstance(node, FUNCTIONS) and calls_backward(node):
                idle = [t for t in targets if isinstance(t, FUNCTIONS) and not calls_backward(t)]
                self._before[node.name] = fillers(node, idle)
            name: str = getattr(node, "name", "")
            if name not in self._harness.plan.skip:
                self._attempt("" if calls_backward(node) else name, partial(self._call, node))

    def finish(self) -> None:
        """Call backward on what the text's statements compute last, as training would."""
        if (found := last_result(self._tree, self._names)) is not None:
            said = "Backward was called on what the text computes last, then a step."
            self._harness.tell("name", "the end", said)
            self._step_on(*found, [])

    def _is_target(self, node: ast.stmt) -> bool:
        if isinstance(node, FUNCTIONS):
            return node.name not in self._used and not node.name.startswith("__")
        if not isinstance(node, ast.ClassDef) or not (
            entries(node) or definition(node, "__init__")
        ):
            return False
        if calls_backward(node):
            return True
        idle = node.name not in self._used or self._instance(node) is not None
        return idle and not calls_backward(self._tree)  # who does makes objects

    def _instance(self, node: ast.ClassDef) -> Any:
        """Return an object of the class that the script has made."""
        kind = self._names.get(node.name)
        if not isinstance(kind, type):
            return None
        return next((v for v in list(self._names.values()) if isinstance(v, kind)), None)

    def _call(self, node: ast.stmt) -> None:
        if isinstance(node, FUNCTIONS):
            self._passes([*self._before.get(node.name, ()), node], node.name, None)
        elif isinstance(node, ast.ClassDef):
            kind = self._names[node.name]
            if issubclass(kind, torch.autograd.Function):
                self._apply(node, kind)
                return
            thing = self._instance(node) or self._building.built(node, kind)
            if found := entries(node):
                self._passes(found, node.name, thing)

    def _passes(self, nodes: Sequence[Definition], owner: str, thing: Any) -> None:
        """Run some iterations of training.

        Of a class's methods the last one is what training enters; the harness calls backward on its
        result if the script does not.
        """
        kept = [n for n in nodes if self._name(owner, n, thing) not in self._harness.plan.skip]
        given: dict[str, list[Any]] = {}
        for number in range(PASSES):
            for node in kept:
                name = self._name(owner, node, thing)
                if number == 0:
                    self._say(name, trained=node is kept[-1] and not _runs_backward(kept, thing))
                    given[name] = self._building.arguments(name, node, skip_self=thing is not None)
                args = given[name] if number == 0 else self._renewed(name, node, given[name], thing)
                self._supply(node)
                call = partial(self._once, node, name, args, thing, kept)
                self._attempt("" if node is kept[-1] else name, call)

    def _supply(self, node: Definition) -> None:
        """Put a number into lists that a function reads and that nothing in the text fills: the
        part that does, such as a loop over an environment, was left out."""
        read = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        filled = {spelled.rpartition(".")[2] for spelled in filled_in(self._tree)}
        for owner, thing in [*self._harness.values.items(), *self._names.items()]:
            if type(thing).__module__ != "__main__":
                continue
            for name, value in vars(thing).items():
                if name in read - filled and type(value) is list and not value:
                    value.append(1.0)
                    path = f"{owner}.{name}"
                    if path not in self._supplied:
                        self._supplied.add(path)
                        said = f"Nothing in the script fills `{path}`: one number was put into it."
                        self._harness.tell("name", path, said)

    def _name(self, owner: str, node: Definition, thing: Any) -> str:
        return node.name if thing is None else f"{owner}.{node.name}"

    def _say(self, name: str, trained: bool) -> None:
        said = f"Nothing in the script calls `{name}`: it was called {PASSES} times"
        said += ", each time with a backward of its result and a step." if trained else "."
        self._harness.tell("name", name, said)

    def _once(
        self, node: Definition, name: str, args: list[Any], thing: Any, nodes: Sequence[Definition]
    ) -> None:
        """Call a function once, with backward if the script calls it nowhere."""
        function = self._names[name] if thing is None else getattr(thing, node.name)
        named = self._building.named(name, node)
        own = _runs_backward(nodes, thing)
        optimizers = self._optimizers(thing) if not own else []
        turns = max(len(optimizers), 1) if _takes_turns(node) else 1
        for turn in range(turns):
            if turns > 1:
                args[-1] = turn
            result = self._at(node.lineno, partial(function, *args, **named))
            if isinstance(result, GeneratorType):
                result = list(islice(result, PASSES))
            inner = self._harness.uses.functions.get(f"{name}.{getattr(result, '__name__', '')}")
            if isinstance(result, FunctionType) and inner is not None:
                result = self._returned(f"{name}.{result.__name__}", inner, result)
            if not own and node is nodes[-1]:
                self._train(result, node, optimizers[turn : turn + 1] or optimizers)

    def _returned(self, name: str, node: Definition, function: Any) -> Any:
        """Return the result of a function that a function returned, called as training would."""
        for _ in range(PASSES - 1):
            self._at(node.lineno, partial(function, *self._building.arguments(name, node)))
        return self._at(node.lineno, partial(function, *self._building.arguments(name, node)))

    def _renewed(self, name: str, node: Definition, args: list[Any], thing: Any) -> list[Any]:
        """Return the arguments of a further call: new data, all else stays."""
        fresh = self._building.arguments(name, node, skip_self=thing is not None)
        return [
            new if isinstance(new, torch.Tensor) or self._is_data(new) else old
            for old, new in zip(args, fresh, strict=True)
        ]

    def _is_data(self, value: Any) -> bool:
        """Return True if a value is some tensors, or only iterated over."""
        if isinstance(value, Placeholder):
            asked = self._harness.use(value._path).asked
            return bool(asked) and asked <= {"items", "values"}
        return isinstance(value, tuple) and any(isinstance(v, torch.Tensor) for v in value)

    def _train(self, result: Any, node: Definition, optimizers: list[Any]) -> None:
        """Call backward on a result, and step, as a framework does after it."""
        loss = loss_in(result)
        plan = self._harness.plan
        lost = plan.weights and plan.data == "graph" and is_loss(node, self._tree)
        meant = "training_step" in node.name or lost
        if loss is None or not (loss.requires_grad or meant):
            return
        last = max(
            (n.lineno for n in ast.walk(node) if isinstance(n, ast.Return)), default=node.lineno
        )
        self._step_on(loss, last, optimizers)

    def _step_on(self, loss: torch.Tensor, line: int, optimizers: list[Any]) -> None:
        """Call backward on a loss on behalf of a line, and step."""
        loss = loss if loss.dim() == 0 else loss.sum()
        self._at(line, loss.backward)
        for optimizer in optimizers or [self._trainers()]:
            optimizer.step()
            optimizer.zero_grad()

    def _optimizers(self, thing: Any) -> list[Any]:
        if hasattr(type(thing), "configure_optimizers"):
            made = self._harness.attributes.optimizers_of(thing)
            made = made if isinstance(made, list) else [made]
            return [one for one in made if one is not None]
        return []

    def _trainers(self) -> Any:
        values = self._harness.values
        if "the trainer's optimizer" not in values:
            values["the trainer's optimizer"] = Optimizer("the trainer's optimizer")
        return values["the trainer's optimizer"]

    def _apply(self, node: ast.ClassDef, kind: Any) -> None:
        """Apply an autograd function to a leaf."""
        forward = next(
            (m for m in node.body if isinstance(m, FUNCTIONS) and m.name == "forward"), None
        )
        if forward is None:
            return
        args = self._building.arguments(f"{node.name}.forward", forward)
        if forward.args.args and forward.args.args[0].arg != "ctx" and is_static(forward):
            args = args[1:]
        leaves = [
            a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
            for a in args
        ]
        self._harness.tell(
            "name",
            node.name,
            f"Nothing in the script applies `{node.name}`: it was applied to small tensors.",
        )
        result = self._at(forward.lineno, lambda: kind.apply(*leaves))
        self._train(result, forward, [])

    def _at(self, line: int, call: Callable[[], Any]) -> Any:
        """Call on behalf of a line of the text, so that it is named where no other line is."""
        tree = ast.parse("__called__['result'] = __called__['call']()")
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt | ast.expr):
                node.lineno = node.end_lineno = line
        called: dict[str, Any] = {"call": call}
        self._names["__called__"] = called
        exec(compile(tree, self._path, "exec"), self._names)
        return called["result"]


def _loaded(node: ast.stmt) -> set[str]:
    """Return the names that a statement reads, except its own."""
    own = getattr(node, "name", "")
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
    found = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}
    if is_method(node):  # the others of its class may be next to it
        on_self = (p for p in parts if isinstance(p, ast.Attribute))
        found |= {p.attr for p in on_self if getattr(p.value, "id", "") == "self"}
    return found - {own}


def _runs_backward(nodes: Sequence[Definition], thing: Any) -> bool:
    """Return True if the functions call backward, and nothing does so on what they return.

    A trainer does, unless it leaves that to its module.
    """
    flag = "automatic_optimization"
    has_flag = getattr_static(thing, flag, None) is not None  # an attribute would be synthesized
    automatic = has_flag and getattr(thing, flag, False) is True
    behind = automatic and nodes[-1].name == "training_step"
    return any(map(calls_backward, nodes)) and not behind


def _takes_turns(node: Definition) -> bool:
    return bool(node.args.args) and node.args.args[-1].arg == "optimizer_idx"
