"""Judge a patched script from outside the service.

    python tests/probe.py FIXED CANDIDATE

Both run in plain Python from the same seed, each in a fork of its own. Recorded are the gradients
that every optimizer sees at each `step()`, the parameters it leaves, and the number of graph nodes
that each backward reaches and that live tensors keep. The candidate passes when it ends without
an exception, agrees with FIXED step by step, and its graphs do not grow where those of FIXED do
not.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import random
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch._dynamo  # every optimizer imports it at its first step: once here, not in each fork
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

Array = npt.NDArray[np.float64]
TraceFunction = Callable[[FrameType, str, Any], Any]
TIME_LIMIT_S = 60
RELATIVE = 2e-3  # of the largest entry: summing losses in another order costs about 1e-6
ABSOLUTE = 1e-6


@dataclass
class Record:
    """What one run did, in numbers that can leave the process it ran in."""

    error: str | None = None  # "RuntimeError: message", or None where the script ended by itself
    lines: list[tuple[str, int]] = field(
        default_factory=list
    )  # the error's frames, outermost first
    gradients: dict[str, list[list[Array]]] = field(
        default_factory=dict
    )  # optimizer → step → param
    parameters: dict[str, list[list[Array]]] = field(
        default_factory=dict
    )  # the same, after the step
    fed: set[str] = field(default_factory=set)  # optimizers that saw a gradient other than zero
    state: dict[str, Array] = field(default_factory=dict)  # at the end, where no optimizer stepped
    nodes: list[int] = field(default_factory=list)  # reached by each backward
    held: list[int] = field(default_factory=list)  # behind every live tensor, at each backward


def run(path: Path) -> Record:
    """Run the script or notebook at `path` in a fork, with its output thrown away."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_record_in_child, args=(path.resolve(), sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(TIME_LIMIT_S):
            return Record(error=f"TimeoutError: still running after {TIME_LIMIT_S} s")
        record: Record = receiver.recv()
        return record
    except EOFError:
        return Record(error="SystemError: the script took its process down")
    finally:
        process.kill()
        process.join()


def judge(candidate: Record, accepted: Sequence[Record]) -> list[str]:
    """The objections to `candidate` against the nearest accepted record; none means it passes."""
    return min((compare(reference, candidate) for reference in accepted), key=len)


def compare(reference: Record, candidate: Record) -> list[str]:
    """Every way in which `candidate` departs from `reference`, in words."""
    if reference.error:
        return [f"the reference itself fails: {reference.error}"]
    if candidate.error:
        return [f"raises {candidate.error}"]
    if not reference.gradients and not reference.state:
        return ["the reference trains nothing that could be compared"]
    return [
        *_compare_steps("gradient", reference.gradients, candidate.gradients),
        *_compare_steps("parameter", *_without_noise(reference, candidate)),
        *_compare_state(reference.state, candidate.state),
        *_compare_growth(reference.nodes, candidate.nodes),
        *_compare_held(reference.held, candidate.held),
    ]


def faults(record: Record) -> list[str]:
    """What is wrong with a record by itself: an error, nothing learnt, graphs that grow."""
    if record.error:
        return [f"raises {record.error}"]
    if not record.gradients and not record.state:
        return ["it trains nothing that could be compared"]
    idle = sorted(record.gradients.keys() - record.fed)
    growth = [f"graphs grow from backward to backward: {record.nodes}"]
    return [
        *(f"{label}: no gradient at any step" for label in idle),
        *(growth if _rises(record.nodes) else []),
    ]


# Running


def _record_in_child(path: Path, sender: Connection) -> None:
    os.chdir(tempfile.gettempdir())
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 2)
        recorder = Recorder()
        gc.freeze()  # what the imports made is not the script's: `_held` need not look at it
        with recorder.listening():
            namespace = _execute(path, recorder.record)
        recorder.finish(namespace)
    sender.send(recorder.record)


def _execute(path: Path, record: Record) -> dict[str, Any]:
    torch.set_num_threads(1)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    try:
        if path.suffix == ".ipynb":
            return _execute_notebook(path)
        return runpy.run_path(str(path), run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            record.error = f"SystemExit: {stop.code}"
    except BaseException as error:  # whatever a script raises is its result
        record.error = f"{type(error).__name__}: {error}"
        frames = traceback.extract_tb(error.__traceback__)
        record.lines = [(Path(frame.filename).name, frame.lineno or 0) for frame in frames]
    return {}


def _execute_notebook(path: Path) -> dict[str, Any]:
    """Run the code cells by their counts; a gap in the counts is an earlier run of that cell."""
    cells = enumerate(json.loads(path.read_text())["cells"], 1)
    code = [(number, cell) for number, cell in cells if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    last = 0
    for number, cell in sorted(code, key=lambda entry: entry[1]["execution_count"]):
        program = compile("".join(cell["source"]), f"cell {number}", "exec")
        for _ in range(last, cell["execution_count"]):
            exec(program, namespace)
        last = cell["execution_count"]
    return namespace


class Recorder:
    """Listens to every optimizer's step and to every entry into the autograd engine."""

    def __init__(self) -> None:
        self.record = Record()
        self._labels: dict[torch.optim.Optimizer, str] = {}
        self._leaves: dict[torch.Tensor, str] = {}
        self._left: dict[str, Array] = {}  # an own engine's values in functions that ended

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
        hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]
        torch.autograd._engine_run_backward = self._counted(engine)  # type: ignore[attr-defined]
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)
            torch.autograd._engine_run_backward = engine  # type: ignore[attr-defined]
            for hook in hooks:
                hook.remove()

    def finish(self, namespace: dict[str, Any]) -> None:
        """Scripts that step by hand, or bring their own engine, are judged by where they end."""
        if not self.record.gradients:
            for leaf, label in self._leaves.items():
                self.record.state[label] = _numbers(leaf)
                self.record.state[f"{label}.grad"] = _numbers(leaf.grad, like=leaf)
            self.record.state |= dict(_engine_state(namespace))
            self.record.state = self.record.state or self._left

    def _called(self, frame: FrameType, *_: object) -> TraceFunction | None:
        """Waits for the end of the script's own functions that its module calls."""
        caller, own = frame.f_back, frame.f_code.co_name[0] != "<"
        if not own or caller is None or caller.f_code.co_name != "<module>":
            return None
        frame.f_trace_lines = False
        return self._ended if frame.f_globals is caller.f_globals else None

    def _ended(self, frame: FrameType, event: str, _: object) -> TraceFunction:
        """What a function knows is gone with it, and so are the leaves of a script within one."""
        if event == "return" and not self.record.nodes:
            self._left |= _engine_state(frame.f_locals, frame.f_code.co_qualname)
        return self._ended

    def _before_step(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        steps = self.record.gradients.setdefault(self._label(optimizer), [])
        steps.append([_numbers(p.grad, like=p) for p in _parameters(optimizer)])
        self._note_fed(optimizer)

    def _after_step(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        steps = self.record.parameters.setdefault(self._label(optimizer), [])
        steps.append([_numbers(p) for p in _parameters(optimizer)])
        self._note_fed(optimizer)  # a closure, as LBFGS calls it, walks within the step

    def _note_fed(self, optimizer: torch.optim.Optimizer) -> None:
        if any(_numbers(p.grad, like=p).any() for p in _parameters(optimizer)):
            self.record.fed.add(self._label(optimizer))

    def _label(self, optimizer: torch.optim.Optimizer) -> str:
        """Kind and shapes, then order: repairs may create or step optimizers in another order."""
        if optimizer not in self._labels:
            shapes = " ".join(str(list(p.shape)) for p in _parameters(optimizer))
            kind = f"{type(optimizer).__name__} of {shapes}"
            twins = sum(label.startswith(f"{kind} (") for label in self._labels.values())
            self._labels[optimizer] = f"{kind} ({twins + 1})"
        return self._labels[optimizer]

    def _counted(self, engine: Callable[..., Any]) -> Callable[..., Any]:
        def run_backward(roots: Sequence[torch.Tensor], *args: Any, **options: Any) -> Any:
            nodes = _reached(roots)
            self.record.nodes.append(len(nodes))
            self.record.held.append(_held())
            for node in nodes:
                leaf = getattr(node, "variable", None)
                if leaf is not None and leaf not in self._leaves:
                    twins = sum(other.shape == leaf.shape for other in self._leaves)
                    self._leaves[leaf] = f"leaf {list(leaf.shape)} ({twins + 1})"
            return engine(roots, *args, **options)

        return run_backward


def _parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _reached(roots: Sequence[torch.Tensor]) -> list[Any]:
    """The graph's nodes behind `roots`, in the order of a depth-first walk."""
    stack: list[Any] = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen: dict[Any, None] = {}
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack += [parent for parent, _ in reversed(node.next_functions) if parent is not None]
    return list(seen)


def _held() -> int:
    """How many graph nodes some tensor of the script keeps alive, reached by a backward call or
    not."""
    alive = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]
    return len(_reached(alive))


def _numbers(tensor: torch.Tensor | None, like: torch.Tensor | None = None) -> Array:
    """A copy as float64; a gradient that never arrived is as good as one of zeros."""
    if tensor is None:
        assert like is not None
        return np.zeros(tuple(like.shape))
    dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return dense.to(torch.float64).cpu().numpy().copy()


def _engine_state(value: Any, path: str = "", depth: int = 6) -> Iterator[tuple[str, Array]]:
    """Values of a hand-written engine: objects with a value and a gradient, found by name."""
    if depth == 0 or isinstance(value, type | torch.Tensor | np.ndarray):
        return
    if type(value).__module__.startswith("torch."):  # a compiler's objects, say
        return
    if (own := _own_value(value)) is not None:
        yield path, own
        return
    if isinstance(value, dict):
        entries = [(str(key), entry) for key, entry in value.items()]
    elif isinstance(value, list | tuple):
        entries = [(str(index), entry) for index, entry in enumerate(value)]
    else:
        entries = _attributes(value)
    for name, entry in entries:
        if not name.startswith("__") and not isinstance(entry, type(os)):
            yield from _engine_state(entry, f"{path}.{name}".lstrip("."), depth - 1)


def _own_value(thing: Any) -> Array | None:
    """`data` next to `grad`; under other names, the first of two numbers of one shape."""
    if hasattr(thing, "data") and hasattr(thing, "grad"):
        return np.array(thing.data, dtype=np.float64)
    if isinstance(thing, dict | list | tuple):
        return None
    numbers = [
        np.array(held, dtype=np.float64)
        for _, held in _attributes(thing)
        if isinstance(held, float) or (isinstance(held, np.ndarray) and held.dtype.kind == "f")
    ]
    alike = len(numbers) > 1 and numbers[0].shape == numbers[1].shape
    return numbers[0] if alike else None


def _attributes(thing: Any) -> list[tuple[str, Any]]:
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    held = [(name, getattr(thing, name)) for name in slots if hasattr(thing, name)]
    return [*held, *getattr(thing, "__dict__", {}).items()]


# Comparing


def _compare_steps(
    what: str, reference: dict[str, list[list[Array]]], candidate: dict[str, list[list[Array]]]
) -> Iterator[str]:
    for label in sorted(reference.keys() | candidate.keys()):
        ours, theirs = reference.get(label, []), candidate.get(label, [])
        if len(ours) != len(theirs):
            yield f"{label}: {len(theirs)} steps instead of {len(ours)}"
        pairs = enumerate(zip(ours, theirs, strict=False), 1)
        first = next((note for n, pair in pairs for note in _differences(n, *pair)), None)
        if first:
            yield f"{label}: {what} {first}"


Steps = dict[str, list[list[Array]]]


def _without_noise(reference: Record, candidate: Record) -> tuple[Steps, Steps]:
    """The parameters of both, with zeros for those entries whose gradients have been other than
    zero and nothing but rounding so far: what Adam makes of these says nothing."""
    ours = {label: [*map(list, steps)] for label, steps in reference.parameters.items()}
    theirs = {label: [*map(list, steps)] for label, steps in candidate.parameters.items()}
    for label in ours.keys() & theirs.keys():
        most: list[Array] = []  # by parameter: the largest gradient of each entry, so far
        pairs = zip(reference.gradients[label], candidate.gradients[label], strict=False)
        for number, pair in enumerate(pairs):
            shapes = [[array.shape for array in arrays] for arrays in (*pair, most)]
            if shapes[0] != shapes[1] or shapes[0][: len(most)] != shapes[2]:
                break  # a difference, and reported as one; or another parameter in a place
            here = [np.maximum(np.abs(a), np.abs(b)) for a, b in zip(*pair, strict=True)]
            most += here[len(most) :]  # a group may join later
            most = [np.maximum(a, b) for a, b in zip(most, here, strict=True)]
            for kept in (ours[label], theirs[label]):
                kept[number] = [
                    np.where((largest > 0) & (largest <= ABSOLUTE), 0.0, values)
                    for values, largest in zip(kept[number], most, strict=True)
                ]
    return ours, theirs


def _differences(
    step: int, reference: Sequence[Array], candidate: Sequence[Array]
) -> Iterator[str]:
    if len(reference) != len(candidate):
        yield f"of {len(candidate)} parameters at step {step}, not of {len(reference)}"
        return
    for index, (ours, theirs) in enumerate(zip(reference, candidate, strict=True)):
        if ours.shape != theirs.shape:
            yield f"{index} has the shape {theirs.shape} at step {step}, not {ours.shape}"
        elif not _close(ours, theirs):
            gap = float(np.abs(ours - theirs).max())
            yield f"{index} differs at step {step} by {gap:.3g}"


def _compare_state(reference: dict[str, Array], candidate: dict[str, Array]) -> Iterator[str]:
    for label, ours in reference.items():
        if label not in candidate:
            yield f"{label} is gone"
        elif not _close(ours, candidate[label]):
            yield f"{label} ends elsewhere"


def _compare_growth(reference: Sequence[int], candidate: Sequence[int]) -> Iterator[str]:
    if candidate and max(candidate) > 3 * max(reference, default=0) + 20:
        yield f"one backward reaches {max(candidate)} nodes, not {max(reference, default=0)}"
    if _growth(candidate) > 1.25 * max(1.0, _growth(reference)):
        yield f"graphs grow from backward to backward: {list(candidate)}"


def _compare_held(reference: Sequence[int], candidate: Sequence[int]) -> Iterator[str]:
    """A total that keeps every loss starts again each epoch: its peak counts, not its trend."""
    if max(candidate, default=0) > 3 * max(reference, default=0) + 20:
        yield f"{max(candidate)} nodes are kept alive, not {max(reference, default=0)}"


def _rises(nodes: Sequence[int]) -> bool:
    """Whether each third of a run has larger graphs than the one before it."""
    third = len(nodes) // 3
    early, middle, late = nodes[:third], nodes[third : 2 * third], nodes[2 * third :]
    return third > 1 and max(early) < max(middle) < max(late)


def _growth(nodes: Sequence[int]) -> float:
    """How much larger the largest graph of the later half is than that of the earlier half."""
    half = len(nodes) // 2
    return max(nodes[half:]) / max(1, *nodes[:half]) if half else 1.0


def _close(ours: Array, theirs: Array) -> bool:
    if ours.shape != theirs.shape or not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return False
    if ours.size == 0:
        return True
    largest = max(float(np.nanmax(np.abs(ours))), float(np.nanmax(np.abs(theirs))))
    return bool(np.nanmax(np.abs(ours - theirs)) <= ABSOLUTE + RELATIVE * largest)


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python tests/probe.py FIXED CANDIDATE", file=sys.stderr)
        return 2
    reference, candidate = (run(Path(argument)) for argument in sys.argv[1:])
    objections = compare(reference, candidate)
    print("\n".join(objections) or "passes")
    return 1 if objections else 0


if __name__ == "__main__":
    sys.exit(main())
