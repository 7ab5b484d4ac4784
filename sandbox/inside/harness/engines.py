"""An autograd engine that a text uses and does not define: it raises the error that was given."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .context import CurrentHarness

FLAGS = frozenset({"autograd", "requires_grad", "track", "needs_grad"})
_DATA_ROLES = ("tensor", "holder", "number", "loss", "zero", "list")


class HarnessEngine:
    """The engine of one harness. `refusal` is its error, as in `Exception: Cannot …`.

    Its values are of a class of the script's, as far as the instruments can tell, so that a second
    backward is reported as for an engine that was sent.
    """

    def __init__(self, refusal: str) -> None:
        name, _, self._message = refusal.partition(": ")
        kind = getattr(builtins, name, None)
        self._error = kind if isinstance(kind, type) and issubclass(kind, Exception) else Exception
        self._node = _value_class(self)
        self._weights: dict[str, Any] = {}
        self.backward_calls = 0

    def named(self, name: str) -> type:
        """Return the class of values, under the script's name for it."""
        self._node.__name__ = self._node.__qualname__ = name
        return self._node

    def made(self, result: Any, given: Sequence[Any], path: str = "") -> Any:
        """Return the result of a call, each tensor in it a value made of all that was given.

        It also depends on a weight, if it has a `path`.
        """
        parents = list(self.values_in(given))
        if path:
            parents.append(self._weights.setdefault(path, self._node(torch.rand(4))))
        return self._as_values(result, parents)

    def _as_values(self, result: Any, parents: list[Any]) -> Any:
        if isinstance(result, torch.Tensor):
            made = self._node(result)
            made.parents = list(parents)
            return made
        if isinstance(result, list | tuple) and result:
            rest = [self._as_values(one, parents) for one in result[1:]]  # an output of its state
            first = self._as_values(result[0], [*parents, *self.values_in(rest)])
            return type(result)([first, *rest])
        return result

    def values_in(self, given: Any, depth: int = 3) -> Iterator[Any]:
        """Yield the engine's values among others."""
        if isinstance(given, self._node):
            yield given
        elif isinstance(given, list | tuple | dict) and depth:
            for one in given.values() if isinstance(given, dict) else given:
                yield from self.values_in(one, depth - 1)

    def walk(self, root: Any) -> None:
        """Run backward over everything that a value was made of, each value once a call."""
        self.backward_calls += 1
        found, pending = {id(root): root}, [root]
        while pending:
            value = pending.pop()
            if value.parents and value.reached:
                self.refuse()
            for parent in value.parents:
                if id(parent) not in found:
                    found[id(parent)] = parent
                    pending.append(parent)
        for value in found.values():
            value.reached = True
            gradient = torch.ones_like(value.data)
            value.grad = gradient if value.grad is None else value.grad + gradient

    def refuse(self) -> None:
        """Raise the error that was given."""
        raise self._error(self._message)


def makes_values(path: str, role: str) -> bool:
    """Return True if a class of this path is the engine's.

    The flags that the script passes show it, or what becomes of its objects.
    """
    flagged = any(
        keyword.arg in FLAGS
        for call in CurrentHarness.harness.use(path).called
        for keyword in call.keywords
    )
    return flagged or (path[:1].isupper() and role in _DATA_ROLES)


def _plain(data: Any) -> torch.Tensor:
    made = bare(data)
    if isinstance(made, torch.Tensor):
        return made.detach()
    try:
        return torch.as_tensor(made, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError):
        return torch.rand(4, 8)


def _value_class(engine: HarnessEngine) -> type:
    """Return the class of an engine's values, which support what torch does with tensors."""

    class EngineValue:
        __module__ = "__main__"

        def __init__(self, data: Any = 0.5, *others: Any, **named: Any) -> None:
            self.data = _plain(data)
            self.parents = list(engine.values_in([*others, *named.values()]))
            self.grad: Any = None
            self.reached = False

        def backward(self, grad: Any = None, *rest: Any, **named: Any) -> None:
            engine.walk(self)

        def detach(self) -> Any:
            return type(self)(self.data)

        def _as_tensor(self, like: Any = None) -> torch.Tensor:
            return self.data

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = [*args, *(kwargs or {}).values()]
            with torch.no_grad():
                result = func(*map(bare, args), **{k: bare(v) for k, v in (kwargs or {}).items()})
            return engine.made(result, given)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            found = getattr(self.data, name, None)
            if found is not None and not callable(found):
                return found

            def method(*args: Any, **kwargs: Any) -> Any:
                result = self.data if found is None else found(*map(bare, args), **kwargs)
                return engine.made(result, [self, *args, *kwargs.values()])

            return method

        def __getitem__(self, key: Any) -> Any:
            return engine.made(self.data[key], [self])

        def __len__(self) -> int:
            return len(self.data)

    EngineValue.__name__ = EngineValue.__qualname__ = "Value"  # as a script would call it
    if not any("detach" in use.asked for use in CurrentHarness.harness.uses.of.values()):
        del EngineValue.detach  # the text does not say that its engine has one
    _calculate(EngineValue, engine)
    return EngineValue


def _calculate(kind: type, engine: HarnessEngine) -> None:
    """Give a class of values the arithmetic of the tensors that they hold."""

    def operation(name: str) -> Any:
        def apply(self: Any, *other: Any) -> Any:
            return engine.made(getattr(self.data, name)(*map(bare, other)), [self, *other])

        return apply

    for name in ("add", "sub", "mul", "truediv", "matmul", "pow"):
        for form in (f"__{name}__", f"__r{name}__"):
            setattr(kind, form, operation(form))
    setattr(kind, "__neg__", operation("__neg__"))  # noqa: B010 (to mypy the class lacks it)


def bare(value: Any) -> Any:
    """Return the value's numbers in place of the value."""
    if isinstance(value, list | tuple):
        return type(value)(map(bare, value))
    own = getattr(value, "_as_tensor", None)
    return own() if own is not None else value
