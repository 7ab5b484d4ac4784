"""What a loss may take for numbers, by its source: whether a slower run should look at it."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.reconnect.cutting_expressions import cuts_in
from analyzers.source.calls import calls_of
from analyzers.source.flow import definitions, names_read, value_of
from analyzers.source.project import Project
from analyzers.source.samples import sampled_without_log_prob
from gradmend.run_wrapper.exchange_dir import Process
from provenance import CodeLine

_SAID = ("torch.Tensor.detach",)  # what says so is meant


def are_suspected(process: Process) -> bool:
    """Return True if a sum in a loss has a term without a graph, and reads what `.item()` or the
    like has made a number of; if derivatives by inputs got no graph; or if samples are drawn that
    no log-probability is asked of."""
    project = _project(process)
    cut = any(_derives(where) or _reads(where, _cuts) for where in _sums(process, project))
    return cut or sampled_without_log_prob(project)


def detached_terms(process: Process) -> Iterator[str]:
    """Yield where losses add up terms without a graph, and read what is detached: such a term may
    be meant to train nothing."""
    for where in _sums(process, _project(process)):
        if not _derives(where) and _reads(where, lambda one: bool(calls_of(one, *_SAID))):
            yield f"{where.place.file}:{where.place.line}"


def _project(process: Process) -> Project:
    return _parsed(tuple(process.files.items()))


@lru_cache(maxsize=1)  # both questions are about the first process
def _parsed(files: tuple[tuple[str, str], ...]) -> Project:
    sources = dict[str, str]()
    for name, path in files:
        with suppress(OSError, ValueError):
            sources[name] = Path(path).read_text("utf-8")
    return Project(sources, next(iter(sources), ""))


def _sums(process: Process, project: Project) -> Iterator[SourceLocation]:
    found = (resolve_location(project, place) for place in _places(process.records))
    return (where for where in found if where is not None)


def _derives(where: SourceLocation) -> bool:
    """Return True for a line that takes gradients: the run shows that they got no graph."""
    return bool(calls_of(where.statement, "torch.autograd.grad"))


def _places(records: bytes) -> Iterator[CodeLine]:
    """Yield where losses add up terms without a graph, or derivatives got none."""
    ended = [line for line in records.splitlines() if line.startswith(b'{"t":"end"')]
    with suppress(ValueError, KeyError, TypeError):
        for at in json.loads(ended[-1])["constant_at"] if ended else ():
            yield CodeLine(at["file"], int(at["line"]), at["function"])


def _reads(where: SourceLocation, cuts: Callable[[ast.stmt], bool]) -> bool:
    """Return True if a statement cuts, or one that gives a name which it reads a value."""
    statements = [where.statement]
    for name in names_read(where.statement):
        statements += [s for s in definitions(where.scope, name) if value_of(s) is not None]
    return any(map(cuts, statements))


def _cuts(statement: ast.stmt) -> bool:
    """Return True if a statement makes numbers of tensors without saying that it detaches them."""
    said = calls_of(statement, *_SAID)
    return any(cut not in said for cut in cuts_in(statement))
