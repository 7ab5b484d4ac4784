"""Programs given as texts, run in plain Python and recorded by the probe; or what came of such a
run when it was recorded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tests.case_files import put_down
from tests.recorded.digests import digest_of, probe_digest
from tests.recorded.packs import Run
from tests.recorded.recorder import Recorder

if TYPE_CHECKING:  # these import torch, which takes seconds, and replays need none of them
    from benchmarks.plain import Sight
    from tests.probe import Array, Record


class Program(Protocol):
    """A script among its files: a case, or one of its repairs."""

    @property
    def texts(self) -> dict[str, str]: ...

    @property
    def entry(self) -> str: ...


@dataclass(frozen=True)
class Given:
    """A program of texts."""

    texts: dict[str, str]
    entry: str = "train.py"


@dataclass(frozen=True)
class ProcessOutcome:
    """What came of a plain run: its error with the lines of its frames, what is wrong with its
    record by itself, and the objections to it compared with what was accepted. `steps`: how many
    each optimizer took; `idle`: how many gradients, of all steps, were zero or not finite."""

    error: str | None = None
    steps: list[int] = field(default_factory=list)
    idle: int = 0
    lines: list[tuple[str, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)


class PlainRuns:
    """Runs programs in plain Python, or recalls what came of it."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self._recorder = recorder or Recorder("live")

    def outcome(self, program: Program, accepted: Sequence[Program] = ()) -> ProcessOutcome:
        """Return what came of a run; with objections where others are accepted."""
        request = {"plain": _asked(program), "accepted": [_asked(one) for one in accepted]}
        answer = self._answer(request)
        lines = [(str(file), int(line)) for file, line in answer["lines"]]
        return ProcessOutcome(**{**answer, "lines": lines})

    def sight(self, program: Program) -> Sight:
        """Return what its author sees who runs it."""
        from benchmarks.plain import Line, Sight

        answer = self._answer({"watched": _asked(program)})
        last = answer["last"] and Line(**answer["last"])
        return Sight(answer["traceback"], last)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        key = digest_of(request)
        answer = self._recorder.recall(key, probe_digest())
        if answer is None:
            answer = answer_to(request)
            self._recorder.keep(key, Run(request, answer, probe_digest()))
        return answer


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """Run what a recorded request asks for."""
    from benchmarks.plain import watch
    from tests.probe import faults, judge

    if "watched" in request:
        sight = watch(request["watched"]["texts"], request["watched"]["entry"])
        return {"traceback": sight.traceback, "last": sight.last and asdict(sight.last)}
    record = run_once(Given(**request["plain"]))
    accepted = [run_once(Given(**one)) for one in request["accepted"]]
    return {
        "error": record.error,
        "steps": [len(steps) for steps in record.gradients.values()],
        "idle": sum(map(_is_idle, _gradients(record))),
        "lines": [list(line) for line in record.lines],
        "faults": faults(record),
        "objections": judge(record, accepted) if accepted else [],
    }


def _gradients(record: Record) -> Iterator[Array]:
    for steps in record.gradients.values():
        for gradients in steps:
            yield from gradients


def _is_idle(gradient: Array) -> bool:
    return not np.isfinite(gradient).all() or not gradient.any()


def _asked(program: Program) -> dict[str, Any]:
    return {"texts": program.texts, "entry": program.entry}


def run_files(files: Mapping[str, str], entry: str = "train.py") -> Record:
    """Return the probe's record of `files[entry]`, run among its files in a folder of its own."""
    from tests.probe import run

    with tempfile.TemporaryDirectory() as folder:
        put_down(files, Path(folder))
        return run(Path(folder, entry))


def run_once(program: Program) -> Record:
    """Return the record of a program; the tests of a case share what its repairs do."""
    return _recorded(tuple(program.texts.items()), program.entry)


@lru_cache(maxsize=64)
def _recorded(texts: tuple[tuple[str, str], ...], entry: str) -> Record:
    return run_files(dict(texts), entry)
