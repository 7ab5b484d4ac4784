"""The values that a text asks for and does not define, made when it asks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from types import FrameType, MethodType
from typing import Any

import torch
from torch import nn

from .. import frames
from . import roles
from .building import Building
from .engines import Engine, bare, makes_values
from .entries import is_method, walked_names
from .here import Here
from .models import Criterion, Function, Maker, Model, Optimizer, blend, pattern
from .plan import Plan
from .reading import Uses
from .telling import Tell, Telling, spelling
from .things import Batches, Thing, base_class
from .uses import Use

WIDTH = [4, 8]  # of a tensor of which nothing more is known
PASSES = 8
LONGER = 8  # times as much
_OF_TORCH = frozenset(  # that modules are asked for whether they have it
    {
        "_forward_hooks",
        "_backward_hooks",
        "_parameters",
        "_buffers",
        "_modules",
        "__jit_unused_properties__",
    }
)


class World:
    """Makes and remembers values by their path.

    `tell(kind, name, text)` says what was assumed. A loss that the text does not make is made
    anew in every pass, and a pass ends when a line asks for a loss that it has asked for before.
    """

    def __init__(
        self, tree: ast.Module, uses: Uses, plan: Plan, tell: Tell, *, scouting: bool = False
    ) -> None:
        Here.world = self
        self.building = Building(self, tree)
        self.uses = uses
        self.plan = plan
        self.engine = Engine(plan.engine) if plan.engine else None
        self.scouting = scouting
        self.values: dict[str, Any] = {}  # as the text spells them; the tracer looks for names here
        self.invented_loss = False
        self.tell = tell
        self.telling = Telling(tell, uses.functions)
        self._losses: dict[str, torch.Tensor] = {}
        self._asked: set[tuple[str, int]] = set()
        self._common: torch.Tensor | None = None
        self._walked = set(walked_names(tree))
        self._depth = 0
        self._configured: dict[str, Any] = {}

    def use(self, path: str) -> Use:
        return self.uses.of.get(path) or Use()

    def load(self, path: str, frame: FrameType | None) -> Any:
        """The value of a path, for the line that the frame is at."""
        spelled = spelling(path)
        if spelled in self.values:
            return self.values[spelled]
        kind = roles.role(path, self.uses, self.plan)
        if kind == "loss":
            return self._loss(path, frame)
        value = self.make(path, kind)
        self.values[spelled] = value
        return value

    def make(self, path: str, kind: str | None = None) -> Any:
        """A new value of the path."""
        kind = kind or roles.role(path, self.uses, self.plan)
        if kind.startswith("of "):  # so many values
            return tuple(self.make(f"{path}[{n}]") for n in range(int(kind[3:])))
        if kind in ("module", "holder") and path not in self.plan.kinds:
            if (own := self.building.own(path)) is not None:
                self.telling.own(path, own)
                if self.values.get("self") is own:  # it has a name of its own
                    del self.values["self"]
                return own
        use = self.use(path)
        parts = use.count
        whole = kind == "tensor" or (kind == "batches" and (use.iterated or not use.parts))
        if not whole and path not in self.plan.kinds and 1 < parts <= 8:
            return tuple(self.make(f"{path}[{n}]") for n in range(parts))
        made: Any = getattr(self, f"_{kind}")(path)
        self.telling.note(path, "values" if isinstance(made, type) else kind, made)
        return made

    # ---- what things and objects of the text's classes lack

    def attribute(self, path: str, name: str) -> Any:
        """An attribute of an invented value."""
        if "." not in path and (method := self._method(name)) is not None:
            return method
        if name in ("backward", "manual_backward"):
            return lambda loss, *args, **kwargs: loss.backward(*args, **kwargs)
        if name == "step" and (use := self.use(f"{path}.step")).called and use.called[0].args:
            if not self.use(f"{path}.step()").names:  # else what it gives is used
                return _step
        return self.load(f"{path}.{name}", frames.user_frame(sys._getframe(1)))

    def _method(self, name: str) -> Any:
        """A method that the text shows without its class."""
        node = self.uses.functions.get(name)
        if node is None or not is_method(node):
            return None
        return MethodType(vars(sys.modules["__main__"])[name], self.load("self", None))

    def missing(self, thing: Any, name: str) -> Any:
        """An attribute that an object of one of the text's classes lacks."""
        if name.startswith("__") or name in _OF_TORCH:
            raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")
        if name in ("optimizers", "trainer_optimizers") and hasattr(thing, "configure_optimizers"):
            return lambda *args, **kwargs: self.optimizers_of(thing)
        made = self.attribute(f"{type(thing).__name__}.self", name)
        if isinstance(thing, nn.Module) and isinstance(made, nn.Module):
            thing._modules.setdefault(name, made)
        return made

    def layers(self, owner: str, module: nn.Module) -> None:
        """Make the layers that the methods of a module call and that no constructor makes."""
        for path in list(self.uses.of):
            name = path.removeprefix(f"{owner}.")
            if name != path and name.isidentifier() and not hasattr(type(module), name):
                if roles.role(path, self.uses, self.plan) == "module":
                    getattr(module, name)

    def optimizers_of(self, thing: Any) -> Any:
        """What `configure_optimizers` gives, asked once."""
        key = f"optimizers of {id(thing)}"
        if key not in self._configured:
            made = thing.configure_optimizers()
            while isinstance(made, tuple | list) and made and isinstance(made[0], list):
                made = made[0]
            made = [one["optimizer"] if isinstance(one, dict) else one for one in _listed(made)]
            self._configured[key] = made if len(made) > 1 else made[0]
        return self._configured[key]

    def called(self, path: str, args: Any, kwargs: Any) -> Any:
        """What calling a value gives that was not taken for something to call."""
        method = self._method("forward") if path == "self" else None
        return (method or Function(path))(*args, **kwargs)

    def base(self, path: str) -> type:
        """A base class that the text does not define."""
        name = spelling(path)
        self.tell("name", name, f"`{name}` is not in the text: a class like `nn.Module` was taken.")
        return base_class(path)

    # ---- one method a role

    def _module(self, path: str) -> Model:
        return Model(path)

    def _criterion(self, path: str) -> Criterion:
        return Criterion(path)

    def _function(self, path: str) -> Function:
        return Function(path)

    def _maker(self, path: str) -> Maker | type:
        made = roles.role(f"{path}()", self.uses, self.plan)
        if self.engine is not None and makes_values(path, made):
            return self.engine.named(roles.plain_name(path))
        return Maker(path)

    def _weights(self, path: str) -> list[nn.Parameter]:
        return [nn.Parameter(0.3 + 0.1 * torch.rand(4, 4)) for _ in range(2)]

    def _optimizer(self, path: str) -> Optimizer:
        return Optimizer(path)

    def _tensor(self, path: str) -> Any:
        count = self.use(path).count
        if 1 < count <= 8 and path not in self.plan.shapes:
            return tuple(self.make(f"{path}[{n}]") for n in range(count))
        made = self.fresh(path)
        if self.plan.data == "graph" and made.is_floating_point() and not roles.is_loaded(path):
            source = self.anchor() if "[" in path else self._source()  # each batch is its own
            return self.marked(torch.sigmoid(source * made), path)
        leaf = self.plan.data == "leaf" or "grad" in self.use(path).asked
        return made.requires_grad_(leaf and made.is_floating_point())

    def _batches(self, path: str) -> Batches:
        return Batches(path, [self.make(f"{path}[]") for _ in range(PASSES)])

    def _number(self, path: str) -> float | int:
        return roles.number(path)

    def _count(self, path: str) -> int:
        return max(int(roles.number(path)), 1) * (LONGER if self.plan.longer else 1)

    def _list(self, path: str) -> list[Any]:
        return []

    def _zero(self, path: str) -> float:
        return 0.0

    def _flag(self, path: str) -> bool:
        return not roles.switched_off(path)

    def _device(self, path: str) -> torch.device:
        return torch.device("cpu")

    def _holder(self, path: str) -> Thing:
        return Thing(path)

    def _loss(self, path: str, frame: FrameType | None = None) -> torch.Tensor:
        site = (path, frame.f_lasti if frame is not None else 0)
        if site in self._asked:
            self._asked.clear()
            self._losses.clear()
        self._asked.add(site)
        if path not in self._losses:
            self.settle()
            self._losses |= self._all_losses(path, frame)
        self.invented_loss = True
        return self._losses[path]

    # ---- tensors

    def fresh(self, path: str) -> torch.Tensor:
        """A tensor without history, in the planned shape."""
        shape = self.plan.shapes.get(path)
        if shape is None:
            shape = self.shape_of(path)
            if self.plan.longer and self.use(path).indexed and len(shape) > 1:
                shape = [shape[0] * LONGER, *shape[1:]]
        if path in self.plan.whole:
            return self.marked(
                torch.arange(_size(shape)).remainder(self.plan.whole[path]).view(shape), path
            )
        return self.marked(torch.rand(shape) * 0.8 + 0.1, path)

    def shape_of(self, path: str) -> list[int]:
        """The shape that a tensor of this path has, as far as it is decided."""
        return self.plan.shapes.get(path) or _shape(self.use(path))

    def output(
        self, path: str, source: torch.Tensor, given: Sequence[Any] = (), weight: str = ""
    ) -> Any:
        """What a call gives: `source` is a number that holds all that it depends on; `weight` is
        the path of the model that was called, if one was. The second of several parts is like the
        second of the values `given`, and so on: a state."""
        return self.depending(self._outputs(path, source, given), given, weight)

    def depending(self, made: Any, given: Sequence[Any], weight: str = "") -> Any:
        """Tensors that were made of what was given: values of the text's engine, if it has one."""
        return made if self.engine is None else self.engine.made(made, given, weight)

    def carried(self, *values: Any) -> tuple[Any, ...]:
        """What a forward that the text leaves out makes anew of the values it hands on."""
        if self.engine is not None:
            return tuple(self.engine.made(bare(v), [v], "forward") for v in values)
        anchor = self.anchor()
        return tuple(_moved(value, anchor) for value in values)

    def _outputs(self, path: str, source: torch.Tensor, given: Sequence[Any]) -> Any:
        parts = self.use(path).count
        if 1 < parts <= 8 and path not in self.plan.shapes:
            alike = [given[n] if 0 < n < len(given) else None for n in range(parts)]
            return tuple(self._part(f"{path}[{n}]", source, one) for n, one in enumerate(alike))
        return self._part(path, source, next(_flat_tensors(given), None))

    def _part(self, path: str, source: torch.Tensor, like: Any = None) -> Any:
        use = self.use(path)
        if 1 < use.count <= 8:
            return self._outputs(path, source, ())
        if isinstance(like, tuple | list) and like:
            return tuple(self._part(f"{path}[{n}]", source, one) for n, one in enumerate(like))
        if roles.role(path, self.uses, self.plan) == "holder" and (use.asked or use.keys):
            return Thing(path, source)
        if {"backward"} & use.methods or (
            path in self.plan.kinds and self.plan.kinds[path] == "loss"
        ):
            return source * 1.5
        shape = self.plan.shapes.get(path)
        if shape is None:
            shape = list(like.shape) if isinstance(like, torch.Tensor) else WIDTH
        return self.marked(torch.sigmoid(source * pattern(shape)), path)

    def marked(self, tensor: torch.Tensor, path: str) -> torch.Tensor:
        """The same tensor, remembering what it was made for."""
        tensor._made_for = path  # type: ignore[attr-defined]
        return tensor

    def anchor(self) -> torch.Tensor:
        """A number that depends on the models in sight."""
        return blend(self.parameters())

    def _source(self) -> torch.Tensor:
        """What a value with a graph is made of: of one and the same number, if they share a part
        of it."""
        if not self.plan.shared:
            return self.anchor()
        if self._common is None:
            self._common = self.anchor()
        return self._common

    # ---- models, optimizers, losses

    def settle(self) -> None:
        """Make the models and the plain values that the text names, before losses of them."""
        if self._depth:
            return
        self._depth += 1
        for path in list(self.uses.of):
            if not set("[(") & set(path) and roles.role(path, self.uses, self.plan) == "module":
                if path.count(".") == (1 if ".self." in f".{path}" or path[:5] == "self." else 0):
                    self.load(path, None)
        self._depth -= 1

    def parameters(self, name: str = "") -> list[nn.Parameter]:
        """Those of the models whose names go with the name of an optimizer; else all."""
        models = dict(self._models())
        chosen = {n: m for n, m in models.items() if name and roles.goes_with(name, n)} or models
        found = {id(p): p for m in chosen.values() for p in m.parameters()}
        if len(chosen) == len(models):
            found |= {id(p): p for p in self._leaves()}
        if not found:
            found = {0: self.values.setdefault("model", Model("model")).weight}
        return list(found.values())

    def _leaves(self) -> Iterator[nn.Parameter]:
        """Leaves that learn and that the text itself has given names; what it walks is a loss."""
        for name, value in list(vars(sys.modules["__main__"]).items()):
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, torch.Tensor) and one.is_leaf and one.requires_grad:
                    if name not in self._walked:
                        yield one  # type: ignore[misc]

    def _models(self) -> Iterator[tuple[str, nn.Module]]:
        main = vars(sys.modules["__main__"])
        for name, value in (*self.values.items(), *main.items()):
            if isinstance(value, nn.Module) and not isinstance(value, Criterion):
                yield name, value

    def _all_losses(self, wanted: str, frame: FrameType | None) -> dict[str, torch.Tensor]:
        """Every loss that the text walks and does not make, made at one time."""
        paths = [p for p in self.uses.of if roles.role(p, self.uses, self.plan) == "loss"]
        if self.engine is not None:
            return self._engine_losses([*paths, wanted], self.engine, frame)
        seen = list(_graphs_in(frame))
        made = {}
        self._common = None  # a new pass
        for path in dict.fromkeys([*paths, wanted]):
            made[path] = torch.tanh(self._source() * 2).pow(2) + sum(t.pow(2).mean() for t in seen)
            self.telling.note(path, "loss", made[path])
        return made

    def _engine_losses(
        self, paths: list[str], engine: Engine, frame: FrameType | None
    ) -> dict[str, Any]:
        """As `_all_losses`, of an engine that was written by hand."""
        given = list(_unseen(engine, frame))
        made = {}
        for path in dict.fromkeys(paths):
            made[path] = engine.made(torch.tensor(0.5), given, "forward")
            self.telling.note(path, "loss", made[path])
        return made


def _unseen(engine: Engine, frame: FrameType | None) -> Iterator[Any]:
    """The engine's values that the frame's names hold and that no loss before was made of."""
    user = frames.user_frame(frame)
    for _, held in frames.local_values(user) if user is not None else ():
        for value in engine.values_in(held):
            if not hasattr(value, "_seen_in_a_pass"):
                value._seen_in_a_pass = bool(value.parents)
                yield value


def _moved(value: Any, anchor: torch.Tensor) -> Any:
    """The value, or each part of it, made of what it was and of the models."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return torch.tanh(value * anchor)
    if isinstance(value, list | tuple):
        return type(value)(_moved(part, anchor) for part in value)
    return value


def _step(optimizer: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A step that is asked of another (a scaler, an accelerator)."""
    return optimizer.step() if isinstance(optimizer, torch.optim.Optimizer) else None


def _flat_tensors(given: Sequence[Any]) -> Iterator[torch.Tensor]:
    """Those of the values given that are tensors of few dimensions: a result may be alike."""
    return (v for v in given if isinstance(v, torch.Tensor) and v.dim() in (1, 2))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _shape(use: Use) -> list[int]:
    """What is read of a tensor's shape: a matrix is square, and an index names dimensions."""
    if use.multiplied:
        return [WIDTH[-1]] * 2
    return [*WIDTH[:1] * max(use.axes - 1, 1), *WIDTH[1:]] if use.axes < 5 else WIDTH


def _size(shape: list[int]) -> int:
    return int(torch.Size(shape).numel())


def _graphs_in(frame: FrameType | None) -> Iterator[torch.Tensor]:
    """Results that the frame's names hold and that no pass before has seen."""
    user = frames.user_frame(frame)
    if user is None:
        return
    for _, value in frames.local_values(user):
        if isinstance(value, torch.Tensor) and value.grad_fn is not None:
            if not hasattr(value, "_seen_in_a_pass"):
                value._seen_in_a_pass = True  # type: ignore[attr-defined]
                yield value
