"""Keeps one stable number for every parameter of a run, and the name its script knows it by."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import Parameter, is_lazy

from .emitter import Emitter
from .frames import Json, place
from .holders import ReferrerSearch
from .late_parameters import LateParameters
from .loaded_parameters import LoadedParameters

LIMIT, MOST = 4096, 16
_tensor: Any = torch.Tensor
_gradient_of = _tensor.grad.__get__  # torch's own: what the script reads by is watched


@dataclass
class KnownParameter:
    """One parameter. `tensor` is the latest that played its part."""

    id: int
    tensor: Callable[[], torch.Tensor | None]
    shape: list[int]
    name: str = ""
    optimizer: int | None = None
    changed_by: int = 0  # the last step that changed it
    receipts: int = 0  # backward calls that gave it a gradient
    renewals: int = 0  # how often another tensor took its place
    fed_from: int = 0  # steps of optimizers before the first of these calls
    fed_until: int = -1  # and before the last
    stood: tuple[float, float] | None = None  # values as they were when first looked at
    moved: bool = False  # and whether they were others later
    has_namesake: bool = False  # an optimizer has another of its name, which the script still names
    born: int = 0  # optimizers that were made before a module was given it
    kin: set[int] = field(default_factory=set)  # parameters of a module that has it, too
    listed_by: set[int] = field(default_factory=set)  # of one in whose plain list it is
    unmoved: int | None = None  # its identity if it stays as it begins
    first: list[float] = field(default_factory=list)  # fingerprint of its values as it was met
    read: bool = False  # the script has asked for its gradient, as far as that is watched
    numbers: list[int] = field(default_factory=list)  # the plain numbers that derive from it
    withheld: Json | None = None  # the line of a node that was reached and handed it None
    loaded: bool = False  # the script has loaded values into it
    taken: Json | None = None  # the line where an optimizer took it
    excused: bool = False  # it needs no gradient: nothing it yields is used, or others move it
    lost: Json | None = None  # the line where a graph that it had fed ended, in a slower run

    @property
    def gradient(self) -> torch.Tensor | None:
        """Return its gradient, while it is a leaf that has one."""
        tensor = self.tensor()
        return _gradient_of(tensor) if tensor is not None and tensor.is_leaf else None

    @property
    def is_unfed(self) -> bool:
        """Return True if it is trained, requires a gradient, and was never given any."""
        if self.receipts or self.optimizer is None:
            return False
        tensor = self.tensor()
        return tensor is not None and tensor.requires_grad

    @property
    def norm(self) -> float:
        """Return the norm of its gradient; 0 without one."""
        gradient = self.gradient
        if gradient is not None and gradient.layout == torch.sparse_coo:
            gradient = gradient.detach().coalesce().values()  # as many rows as were looked up
        return 0.0 if gradient is None else values_of(gradient)[1]

    @property
    def mark(self) -> tuple[int, int] | None:
        """Return what identifies its gradient: the tensor, and how often it was written."""
        gradient = self.gradient
        return None if gradient is None else (id(gradient), version_of(gradient))

    def receive(self, steps: int) -> None:
        """Record that a backward call has given it a gradient, after so many steps."""
        if not self.receipts:
            self.fed_from = steps
        self.receipts, self.fed_until = self.receipts + 1, steps
        often = self.receipts <= MOST or self.receipts & (self.receipts - 1) == 0
        if often and (self.optimizer is None or self.receipts == 1):
            self.look()

    def look(self) -> None:
        """Note whether its values are others than at first."""
        tensor = self.tensor() if not self.moved else None
        if tensor is not None:
            now = values_of(tensor)
            self.moved = self.stood not in (None, now)
            self.stood = self.stood or now

    def record(self) -> Json:
        tensor = self.tensor()
        return {
            "id": self.id,
            "name": self.name,
            "shape": self.shape,
            "optimizer": self.optimizer,
            "requires_grad": tensor is None or tensor.requires_grad,
            "unmoved": self.unmoved,
            "read": self.read,
            "numbers": self.numbers,
            "first": self.first,
            "excused": self.excused,
        }


class ParameterRegistry:
    """Numbers parameters by first appearance: as an optimizer takes them, or as a backward
    leaves a gradient in them."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._births = LateParameters()
        self._loaded = LoadedParameters()
        self._by_tensor: dict[int, KnownParameter] = {}
        self._news: dict[int, KnownParameter] = {}
        self._groups: dict[frozenset[int], int] = {}
        self.known: list[KnownParameter] = []

    def find(self, tensor: torch.Tensor) -> KnownParameter | None:
        """Return what is known of the tensor, if it is a known parameter."""
        known = self._by_tensor.get(id(tensor))
        return known if known is not None and known.tensor() is tensor else None

    def meet(
        self, tensors: list[torch.Tensor], frame: FrameType | None, optimizer: int | None = None
    ) -> list[KnownParameter]:
        """Return the parameters of these tensors; new ones are numbered, named and recorded."""
        if optimizer is not None:
            self._births.made(optimizer, frame)
        met = self._known(tensors)
        if len(met) < len(tensors):
            strangers = {id(t): t for t in tensors if self.find(t) is None}
            names = names_of(strangers, frame)
            namesakes = self._namesakes(set(names.values()), frame) if optimizer is None else set()
            for key, tensor in strangers.items():
                self._admit(tensor, names.get(key, ""), namesakes)
            met = self._known(tensors)
        for known in met if optimizer is not None else []:
            if known.optimizer is None:
                known.optimizer = optimizer
                known.taken = place(frame) if frame is not None else None
                self._news[known.id] = known
        return met

    def _known(self, tensors: list[torch.Tensor]) -> list[KnownParameter]:
        met = []
        for tensor in tensors:
            known = self._by_tensor.get(id(tensor))
            if known is not None and known.tensor() is tensor:
                met.append(known)
        return met

    def _namesakes(self, names: set[str], frame: FrameType | None) -> set[str]:
        """Return those names whose parameter in an optimizer the script still has."""
        held = [k for k in self.known if k.optimizer is not None and k.name in names]
        tensors = {id(t): t for known in held if (t := known.tensor()) is not None}
        found = names_of(tensors, frame) if tensors else {}
        return {known.name for known in held if id(known.tensor()) in found}

    def _admit(self, tensor: torch.Tensor, name: str, namesakes: set[str]) -> None:
        """Number a tensor, or let it replace one that had its name and shape."""
        shape = [] if is_lazy(tensor) else [int(n) for n in tensor.shape][:16]
        for known in self.known if name else []:
            if known.name == name and known.shape == shape and known.optimizer is None:
                known.tensor = weakref.ref(tensor)
                known.renewals, known.stood = known.renewals + 1, None
                self._by_tensor[id(tensor)] = known
                return
        if len(self.known) < LIMIT:
            known = KnownParameter(len(self.known), weakref.ref(tensor), shape, name)
            known.has_namesake, known.born = name in namesakes, self._births.of(tensor)
            known.loaded = tensor in self._loaded
            self.known.append(known)
            self._by_tensor[id(tensor)] = known
            self._news[known.id] = known

    def note_read(self, tensor: torch.Tensor) -> None:
        """Record that the script reads the gradient of what may be a parameter."""
        known = self.find(tensor)
        if known is not None and not known.read:
            known.read = True
            self._news[known.id] = known

    def rename(self, known: KnownParameter, name: str) -> None:
        """Record the path by which a module has a parameter."""
        known.name = name
        self._news[known.id] = known

    def excuse(self, parameters: Sequence[KnownParameter]) -> None:
        """Record that parameters need no gradient."""
        for known in parameters:
            known.excused = True
            self._news[known.id] = known

    def note_numbers(self, leaves: Sequence[torch.Tensor]) -> None:
        """Record that NumPy got what derives from these: a reference gives it only the numbers."""
        found = {known.id: known for leaf in leaves if (known := self.find(leaf)) is not None}
        if any(len(known.numbers) >= MOST for known in found.values()):
            return  # a group is recorded with all its members
        group = self._groups.setdefault(frozenset(found), len(self._groups))
        for known in found.values():
            if group not in known.numbers:
                known.numbers.append(group)
                self._news[known.id] = known

    def number(self, name: str, shape: list[int]) -> int | None:
        """Return the id of a parameter of a hand-written engine, known by its name and shape."""
        for known in self.known:
            if known.name == name and known.shape == shape:
                return known.id
        if len(self.known) >= LIMIT:
            return None
        known = KnownParameter(len(self.known), lambda: None, shape, name)
        self.known.append(known)
        self._news[known.id] = known
        return known.id

    def name_again(self, frame: FrameType | None) -> None:
        """Look for the names of parameters that had none where they first appeared."""
        unnamed = {id(t): k for k in self.known if not k.name and (t := k.tensor()) is not None}
        tensors = {key: t for key, k in unnamed.items() if (t := k.tensor()) is not None}
        for key, name in (names_of(tensors, frame) if tensors else {}).items():
            unnamed[key].name = name
            self._news[unnamed[key].id] = unnamed[key]

    def tell(self) -> None:
        """Emit what is new since the last time; a later entry replaces an earlier one."""
        if self._news:
            news, self._news = list(self._news.values()), {}
            for start in range(0, len(news), 1024):
                facts = [known.record() for known in news[start : start + 1024]]
                self._emitter.emit({"t": "parameters", "params": facts})


def version_of(tensor: torch.Tensor) -> int:
    """Return how often the tensor's memory was written to; 0 of one that has none yet, and of an
    inference tensor, which does not count it."""
    return 0 if is_lazy(tensor) or tensor.is_inference() else int(tensor._version)


def values_of(tensor: torch.Tensor) -> tuple[float, float]:
    """Return sum and norm, which show whether the values have moved."""
    if is_lazy(tensor) or tensor.is_meta:  # without numbers, as yet or ever
        return 0.0, 0.0
    with torch._C.DisableTorchFunction():  # this is no call of the script's
        values = tensor.detach()
        if values.layout != torch.strided:
            values = values.to_dense()
        values = (torch.view_as_real(values) if values.is_complex() else values).double()
        return float(values.sum()), float(torch.linalg.vector_norm(values))


def names_of(tensors: dict[int, torch.Tensor], frame: FrameType | None) -> dict[int, str]:
    """Return the shortest plain path from the user's names to each tensor, by its `id`.

    A parameter's path through its model takes precedence over the name that a loop gave it last.
    """
    found: dict[int, str] = {}
    search = ReferrerSearch(lambda t: id(t) in tensors, budget=20_000, depth=4, leaves=True)
    for name, tensor in search.around(frame):
        known = found.get(id(tensor))
        by_model = isinstance(tensor, Parameter)
        if known is None or _effort(name.path, by_model) < _effort(known, by_model):
            found[id(tensor)] = name.path
    return found


def simpler(known: str | None, path: str) -> str:
    """Return the plainer of two paths to one thing; the known one if they are alike."""
    return path if known is None or _effort(path) < _effort(known) else known


def _effort(path: str, by_model: bool = False) -> tuple[int, bool, int]:
    return path.count("["), by_model and "." not in path, len(path)
