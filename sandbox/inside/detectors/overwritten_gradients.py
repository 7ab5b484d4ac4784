"""Finds gradients that a script believes to have kept, while later backward calls rewrote them."""

from __future__ import annotations

import sys
import weakref
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from types import FrameType, MappingProxyType
from typing import Any

import torch

from ..core.engine import Call
from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..core.parameters import KnownParameter, ParameterRegistry, version_of
from ..core.value_names import Name
from .gradient_lists import (
    NOWHERE,
    OUTLIVED,
    GradientList,
    Values,
    holds_any,
    is_rewritten,
    is_short,
    items_of,
    memory_of,
)

CALLS = 16  # at which kept gradients are looked for, since a line first called the engine
LASTING = 1024  # at which those are that an object keeps
DOUBTS = 8  # names of which only reading can tell
REWRITTEN = "later calls rewrote what was kept"
SETTLED = 3  # calls by which what follows the gradients for good is set up

MANY = sys.maxsize


class OverwrittenGradients:
    """What names hold gradients, from call to call."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._owners: dict[int, tuple[weakref.ref[torch.Tensor], KnownParameter]] = {}
        self._values: dict[Values, tuple[weakref.ref[torch.Tensor], KnownParameter]] = {}
        self._first: dict[tuple[str, str], int] = {}
        self._lists: dict[tuple[str, str], GradientList] = {}
        self._snapshots: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._written: dict[int, int] = {}
        self._used: set[int] = set()  # lists that were there as a step used their gradients
        self._local: list[tuple[Name, list[torch.Tensor], list[int]]] = []
        self._gathered: list[tuple[Name, Values]] = []
        self._ended: dict[Values, int] = {}  # how often each was written as the last call ended
        self._steps = 0
        self._calls = 0
        self._last_call = self._last_step = CALLS  # at which gradients are looked for
        self._lasting = False  # whether an object keeps gradients
        self._doubts: dict[tuple[str, str], Json] = {}
        self._reported: set[tuple[str, str]] = set()  # doubts

    def look(self, call: Call) -> Json | None:
        """Return a `silent` record if two stored copies turn out to be one gradient, else None."""
        self._meet()
        if call.iteration == 1:  # what a line begins is new
            self._last_call, self._last_step = call.n + CALLS, self._steps + CALLS
        if not self._owners or call.n > (LASTING if self._lasting else self._last_call):
            return None
        lists = self._lists_of(call.frame, call.n)
        self._remember(lists)
        self._calls = call.n
        report = self._twice_in_one(call.frame) or self._two_lists(lists)
        self._gathered = self._nested(call.frame) if call.n <= self._last_call else []
        self._outlived(call)
        return report

    def _meet(self) -> None:
        """Note whose gradients there are."""
        for known in self._parameters.known:
            if (gradient := known.gradient) is not None:
                owner = self._owners[id(gradient)] = weakref.ref(gradient), known
                if (values := memory_of(gradient)) != NOWHERE:
                    self._values[values] = owner
                self._written.setdefault(id(gradient), version_of(gradient))

    def stepped(self, frame: FrameType | None) -> Json | None:
        """Look again at a step, when the result of a comprehension or a call has a name."""
        written, self._written = self._written, {}
        self._steps += 1
        if not self._owners or self._steps > self._last_step:
            return None
        tensors = [known.tensor() for known in self._parameters.known]
        now = {id(t.grad) for t in tensors if t is not None and t.is_leaf}
        search = ReferrerSearch(lambda held: holds_any(held, now), kinds=(list, tuple, dict))
        self._used |= {id(held) for _, held in search.around(frame)}
        report = self._twice_in_one(frame, written)
        return report or self._two_lists(self._lists_of(frame, self._calls + 1))

    def crossed(self, call: Call) -> None:
        """Doubt what a name or attribute held as a call began, alone or listed, if the call wrote
        to it."""
        held, self._local = self._local, []
        for name, gradients, versions in held:
            if all(version_of(t) > v for t, v in zip(gradients, versions, strict=True)):
                known = self._values[memory_of(gradients[0])][1]
                self._doubt(call, name, known, 1, early=True)
        gathered, self._gathered = self._gathered, []
        for name, values in gathered:
            owner, known = self._values[values]
            gradient = owner()
            if gradient is not None and version_of(gradient) > self._ended.get(values, MANY):
                self._doubt(call, name, known, 1, early=True)
        if call.n <= self._last_call:
            self._meet()  # those that the call has made
            alive = [(values, gradient()) for values, (gradient, _) in self._values.items()]
            self._ended = {values: version_of(g) for values, g in alive if g is not None}

    def _nested(self, frame: FrameType | None) -> list[tuple[Name, Values]]:
        """Return the first gradient nested in the entries of each collection.

        It is `rows[0][0]` of `rows`, `found[0].parts[0]` of `found`, or an entry of an optimizer's
        state.
        """
        found: dict[tuple[str, str, str], tuple[Name, Values]] = {}
        for name, held in ReferrerSearch(lambda t: self._gradient(t) is not None).around(frame):
            if "]" in name.path[:-1] and not name.path.endswith(".grad"):
                base, _, keys = name.path.partition("[")
                entry = keys.rpartition("[")[2] if "." in base else ""
                found.setdefault((name.scope, base, entry), (name, memory_of(self._gradient(held))))
        return list(found.values())

    def _outlived(self, call: Call) -> None:
        """Doubt what an object stored, and later calls wrote to again and again.

        Doubt it less if it was stored long after the start, or more than once: buffers that follow
        the gradients are stored at setup.
        """
        for key, kept in self._lists.items():
            if "." not in kept.name.path or call.n - kept.since < OUTLIVED:
                continue
            owners = [self._values[one] for one in kept.versions if one in self._values]
            gradients = [known.tensor() for _, known in owners]
            if all(is_rewritten(kept, tensor) for tensor in gradients) and owners:
                early = kept.since <= SETTLED and len(self._snapshots[key]) == 1
                self._doubt(call, kept.name, owners[0][1], call.n - kept.since, early=early)

    def doubted(self, *, ended: bool) -> list[Json]:
        """Return what later calls wrote to; only static analysis can decide whether it is still
        used.

        Each is reported once; what was stored early only when the script has ended.
        """
        ready = [key for key, report in self._doubts.items() if ended or not report["doubtful"]]
        self._reported |= {*ready}
        return [self._doubts.pop(key) for key in ready]

    def _doubt(
        self, call: Call, name: Name, known: KnownParameter | None, calls: int, *, early: bool
    ) -> None:
        key = name.scope, name.path
        surer = key not in self._doubts or (self._doubts[key]["doubtful"] and not early)
        if surer and key not in self._reported and len(self._doubts) + len(self._reported) < DOUBTS:
            report = {**call.fault(), "figures": [float(calls)]}
            more = {"detail": REWRITTEN, "doubtful": early}
            self._doubts[key] = {**_report([name], known), **report, **more}

    def _owner(self, value: Any) -> KnownParameter | None:
        """Return the parameter whose gradient this was at the last look, or None."""
        reference, known = self._owners.get(id(value), (None, None))
        return known if reference is not None and reference() is value else None

    def _gradient(self, value: Any) -> torch.Tensor | None:
        """Return the gradient that a tensor is, or shares its values with, or None."""
        reference, _ = self._values.get(memory_of(value), (None, None))
        return reference() if reference is not None else None

    def _twice_in_one(
        self, frame: FrameType | None, written: Mapping[int, int] = MappingProxyType({})
    ) -> Json | None:
        """Return a collection that stored the same gradient twice, if a call wrote to it since.

        Since it was first seen, or since a version in `written` (a loop's plain names are none).
        """
        groups: dict[tuple[str, str, int], list[Name]] = defaultdict(list)
        for name, tensor in ReferrerSearch(lambda t: self._owner(t) is not None).around(frame):
            if name.path.endswith(".grad") or (written and not name.containers):
                continue
            if "[…]" in name.path:  # of different owners
                continue
            base = name.path.partition("[")[0] if name.containers else ""
            group = groups[name.scope, base, id(tensor)]
            group.append(name)
            first = self._first.setdefault((name.scope, name.path), version_of(tensor))
            first = min(first, written.get(id(tensor), first))
            if first < version_of(tensor) and len(group) > 1:
                return _report(group, self._owner(tensor))
        return None

    def _lists_of(self, frame: FrameType | None, calls: int) -> list[tuple[GradientList, Any]]:
        """Return the named collections that hold only gradients.

        What has a new name is as old as it was as an entry.
        """
        search = ReferrerSearch(self._holds_gradients, kinds=(list, tuple, dict, torch.Tensor))
        found: list[tuple[GradientList, Any]] = []
        for name, held in search.around(frame):
            gradients = [g for item in items_of(held) if (g := self._gradient(item)) is not None]
            versions = {memory_of(gradient): version_of(gradient) for gradient in gradients}
            kept = self._lists.get((name.scope, name.path))
            if kept is None or kept.identity != id(held) or kept.versions.keys() != versions.keys():
                kept = self._renamed(name, held, versions) or GradientList(
                    name, id(held), calls, versions
                )
            found.append((kept, held))
        return found

    def _remember(self, found: list[tuple[GradientList, Any]]) -> None:
        """Keep what names hold as a call begins."""
        for kept, held in found:
            lasting = "." in kept.name.path
            items = items_of(held)
            gradients = [g for item in items if (g := self._gradient(item)) is not None]
            itself = kept.name.kind == "attribute" and kept.name.path.endswith(".grad")
            unused = kept.identity not in self._used and not itself
            if unused and kept.name.kind != "item" and len(gradients) == len(items):
                self._local.append((kept.name, gradients, [version_of(t) for t in gradients]))
            if isinstance(held, torch.Tensor) and (not lasting or kept.name.path.endswith(".grad")):
                continue
            self._lasting = self._lasting or lasting
            self._snapshots[kept.name.scope, kept.name.path].add(kept.identity)
            self._lists[kept.name.scope, kept.name.path] = kept

    def _two_lists(self, found: list[tuple[GradientList, Any]]) -> Json | None:
        """Return two lists of the same gradients, made at different times with a backward call
        between."""
        lists = [
            kept
            for kept, held in found
            if not isinstance(held, torch.Tensor) and any(map(self._owner, items_of(held)))
        ]
        for one, other in combinations(sorted(lists, key=lambda kept: kept.since), 2):
            changed = [
                key
                for key, version in one.versions.items()
                if one.since < other.since and version < other.versions.get(key, version)
            ]
            if changed and one.name.scope == other.name.scope:
                return _report([one.name, other.name], self._values[changed[0]][1])
        return None

    def _renamed(self, name: Name, held: Any, versions: dict[Values, int]) -> GradientList | None:
        """Return what is known of the list by an entry that had another name before."""
        for kept in self._lists.values():
            if kept.name.containers and kept.identity == id(held):
                if kept.versions.keys() == versions.keys():
                    return replace(kept, name=name)
        return None

    def _holds_gradients(self, held: Any) -> bool:
        items = items_of(held) if is_short(held) else []
        tensors = (item for item in items if isinstance(item, torch.Tensor))
        return any(self._gradient(one) is not None for one in tensors)


def _report(names: list[Name], known: KnownParameter | None) -> Json:
    return {
        "holders": [name.record("now") for name in names][:32],
        "params": [known.name] if known is not None and known.name else [],
    }
