"""The values that a text asks for and does not define, made when it asks."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import torch
from torch import nn

from ..resources import tables
from ..stubs import sizes
from . import roles
from .assumptions import AssumptionLog, Tell, spelling
from .attributes import Attributes
from .building import Building
from .context import CurrentHarness
from .engines import HarnessEngine, makes_values
from .losses import Losses
from .model_registry import ModelRegistry
from .models import Criterion, Function, Maker, Model, Optimizer
from .outputs import Outputs
from .placeholders import WORDS, Batches, Placeholder, base_class
from .plan import ValuePlan
from .reading import Uses
from .tensors import LONGER, Tensors, marked
from .uses import ValueUse

PASSES = 8
MORE = 16  # times as many turns: some read parts of 64


class SynthesizedValues:
    """Makes and remembers values by their path.

    `tell(kind, name, text)` says what was assumed. What hangs on many values is made by a part
    of its own: tensors, what calls give, losses, and the attributes that values lack.
    """

    def __init__(
        self, tree: ast.Module, uses: Uses, plan: ValuePlan, tell: Tell, *, searching: bool = False
    ) -> None:
        CurrentHarness.harness = self
        sizes.decide(plan.shapes, plan.whole, LONGER if plan.longer else 1)
        self.building = Building(self, tree)
        self.uses = uses
        self.plan = plan
        self.engine = HarnessEngine(plan.engine) if plan.engine else None
        self.searching = searching
        self.values: dict[str, Any] = {}  # as the text spells them; the tracer looks for names here
        self.tell = tell
        self.assumption_log = AssumptionLog(tell, uses.functions)
        self.attributes = Attributes(self)
        self.known_models = ModelRegistry(self, tree)
        self.tensors = Tensors(self, tree)
        self.outputs = Outputs(self)
        self.losses = Losses(self)

    def use(self, path: str) -> ValueUse:
        """Return what the script does with the value of a path."""
        return self.uses.known(path)

    def role(self, path: str) -> str:
        """Return what the value of a path is: the name of the method here that makes it."""
        return roles.role(path, self.uses, self.plan)

    def load(self, path: str, frame: FrameType | None) -> Any:
        """Return the value of a path, for the line that the frame is at."""
        spelled = spelling(path)
        if spelled in self.values:
            return self.values[spelled]
        kind = self.role(path)
        if kind == "loss":
            return self.losses.of(path, frame)
        value = self.make(path, kind)
        self.values[spelled] = value
        return value

    def make(self, path: str, kind: str | None = None) -> Any:
        """Return a new value of the path."""
        kind = kind or self.role(path)
        if kind.startswith("of "):  # so many values
            return tuple(self.make(f"{path}[{n}]") for n in range(int(kind[3:])))
        if kind in ("module", "holder", "function") and path not in self.plan.kinds:
            if (own := self.building.own(path)) is not None:
                self.assumption_log.own(path, own)
                if self.values.get("self") is own:  # it has a name of its own
                    del self.values["self"]
                return own
        if kind in ("function", "maker") and path not in self.plan.kinds:
            if (function := self.building.own_function(path)) is not None:
                return function
        use = self.use(path)
        parts = use.count
        whole = kind == "tensor" or (kind == "batches" and (use.iterated or not use.parts))
        if not whole and path not in self.plan.kinds and 1 < parts <= 8:
            return tuple(self.make(f"{path}[{n}]") for n in range(parts))
        made: Any = getattr(self, f"_{kind}")(path)
        self.assumption_log.note(path, "values" if isinstance(made, type) else kind, made)
        return made

    def keep_item(self, holder: object, path: str, item: str, value: Any) -> None:
        """Name what an invented value holds, where that has a name itself: no part of a batch."""
        if self.values.get(spelling(path)) is holder:
            self.values[spelling(item)] = value

    def base(self, path: str) -> type:
        """Return a base class that the script does not define."""
        name = spelling(path)
        self.tell(
            "name", name, f"`{name}` is not in the script: a class like `nn.Module` was used."
        )
        return base_class(path)

    # ---- one method a role

    def _module(self, path: str) -> Model:
        model = Model(path)
        self.attributes.layers(path, model)
        return model

    def _criterion(self, path: str) -> Criterion:
        return Criterion(path)

    def _function(self, path: str) -> Function:
        return Function(path)

    def _maker(self, path: str) -> Maker | type:
        made = self.role(f"{path}()")
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
        made = self.tensors.fresh(path)
        if self.plan.data == "graph" and made.is_floating_point() and not roles.is_observed(path):
            # each batch is its own
            source = self.known_models.anchor() if "[" in path else self.known_models.source(path)
            return marked(torch.sigmoid(source * made), path)
        leaf = self.plan.data == "leaf" or "grad" in self.use(path).asked
        return made.requires_grad_(leaf and made.is_floating_point())

    def _mask(self, path: str) -> torch.Tensor:
        return marked(self.tensors.fresh(path) > 0.2, path)

    def _batches(self, path: str) -> Batches:
        count = max(PASSES, 2 * self.uses.cycle)
        return Batches(path, [self.make(f"{path}[]") for _ in range(count)])

    def _number(self, path: str) -> float | int:
        if path in self.plan.whole:
            return self.plan.whole[path]
        if self.use(path).begins or self.use(path).cycled:
            return 0
        return roles.number(path) * self._more(path)

    def _count(self, path: str) -> int:
        return max(int(roles.number(path)), 1) * self._more(path)

    def _more(self, path: str) -> int:
        """Return how many times as much is counted; sizes of other things are not."""
        use = self.use(path)
        counted = use.counted or (path in self.plan.kinds and not use.given_to)
        return MORE if self.plan.longer and counted else 1

    def _sizes(self, path: str) -> tuple[int, int]:
        return 2, 2

    def _leaf(self, path: str) -> Any:
        return self.tensors.fresh(path).requires_grad_()

    def _words(self, path: str) -> list[str]:
        return list(WORDS)

    def _file(self, path: str) -> str:
        return roles.plain_name(path)

    def _table(self, path: str) -> Any:
        return tables.synthesized(path)

    def _list(self, path: str) -> list[Any]:
        return []

    def _zero(self, path: str) -> float:
        return 0.0

    def _flag(self, path: str) -> bool:
        return not roles.switched_off(path)

    def _device(self, path: str) -> torch.device:
        return torch.device("cpu")

    def _holder(self, path: str) -> Placeholder:
        return Placeholder(path)

    def _loss(self, path: str) -> Any:
        return self.losses.of(path, None)
