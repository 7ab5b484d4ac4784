"""Runs a script in a harness: by the plan that a search finds, or that of an earlier run."""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

import torch

from ..core import holders
from ..core.emitter import Emitter
from ..errors import failure
from ..references.common_random_numbers import seed_everything
from ..script import entry as scripts
from . import absent
from .absent import names_left_out, without_absent
from .bodies import body_alone, computes_alone
from .driving import PASSES, Driver
from .elided import filled_in, handed_on
from .entries import calls_backward, calls_backward_outside_loops, may_leave_out, without_quoted
from .families import GivenError
from .lineage import follow_variables, made_path, mark
from .names import EveryName, usual
from .ordering import defined_ahead
from .placeholders import Batches, NeedsValue
from .plan import Json, ValuePlan
from .reading import Uses
from .reports import report_of, without_reports
from .search import Searcher
from .size_messages import Failure
from .synthesized_values import SynthesizedValues
from .trial import Enough, HarnessTrial, Watch
from .variants import Choices

IMPORTS = (ast.Import, ast.ImportFrom)


class ScriptText:
    """A script as it was sent, as Python of today, and its uses of what it does not define.

    `left_out` are names that it imports, and that are synthesized all the same.
    """

    def __init__(
        self, tree: ast.Module, modern: ast.Module, left_out: frozenset[str] = frozenset()
    ) -> None:
        self.modern = modern
        self.uses = Uses(tree)
        self.left_out = left_out


class CompletedRun:
    """The run of one text. `asked` is the job's `harness`: `{"plan": …}` or `{"wanted": …}`.
    `shows`: the search saw an error of autograd's in the harness that it found."""

    shows = False

    def __init__(self, entry: str, argv: list[str], asked: Json, emitter: Emitter) -> None:
        self._path = os.path.abspath(entry)
        with open(self._path, "rb") as file:
            source = file.read()
        folders = scripts.folders(self._path)
        self._tree = body_alone(defined_ahead(without_quoted(ast.parse(source, self._path))))
        modern = scripts.read_as(source, self._path)
        parsed = ast.parse(modern) if isinstance(modern, bytes | str) else modern
        self._modern = body_alone(defined_ahead(without_quoted(parsed)))
        self._texts = {False: ScriptText(self._tree, self._modern)}
        if (rest := without_absent(self._tree, folders)) is not None:
            modern_rest = without_absent(self._modern, folders) or self._modern
            self._texts[True] = ScriptText(rest, modern_rest, names_left_out(self._tree, rest))
        self._emitter = emitter
        self._asked = asked
        _import_ahead(self._texts[False])
        _take_tensors_for_arrays()
        _load_batches_as_they_are()
        follow_variables()
        sys.argv = scripts.arguments([entry, *argv])
        sys.path[0:0] = folders

    def plan(self) -> ValuePlan:
        """Return the plan that was given; else the best that a search finds, which is reported."""
        given = ValuePlan.from_json(self._asked["plan"]) if self._asked.get("plan") else None
        if given is not None and not self._asked.get("onward"):
            return given
        wanted = GivenError.from_json(self._asked.get("wanted") or {})
        part = calls_backward_outside_loops(self._tree)
        optional, rooted = may_leave_out(self._tree), computes_alone(self._tree)
        elided = bool(handed_on(self._tree))
        choices = Choices(elided, True in self._texts, part, optional, rooted)
        plan, self.shows = Searcher(self._tried, self._uses_of, wanted, choices, given).best()
        self._emitter.emit({"t": "plan", "shows": self.shows, **plan.to_json()})
        return plan

    def run(self, plan: ValuePlan) -> None:
        """Run the text, then what it does not call."""
        reported: set[str] = set()

        def tell(kind: str, name: str, text: str) -> None:
            if name not in reported:
                reported.add(name)
                self._emitter.emit({"t": "assumed", "kind": kind, "name": name, "text": text})

        harness = SynthesizedValues(self._tree, self._uses_of(plan), plan, tell)
        holders.BEYOND.append(harness.values)
        self._live(harness, lambda name, call: call())

    def _live(self, harness: SynthesizedValues, attempt: Callable[[str, Any], None]) -> None:
        left_out = harness.assumption_log.left_out = self._text_of(harness.plan).left_out
        module = ModuleType("__main__")
        module.__dict__.update(
            __file__=self._path, __builtins__=EveryName(harness, left_out), __cached__=None
        )
        sys.modules["__main__"] = module
        driver = Driver(harness, self._tree, self._path, attempt)
        exec(self._code(harness), module.__dict__)
        if harness.plan.rooted:
            driver.finish()
        if harness.plan.looped:
            self._go_on(harness, module, driver)
        if not any(calls_backward(node) for node in self._tree.body if not _defines(node)):
            driver.drive()

    def _go_on(self, harness: SynthesizedValues, module: ModuleType, driver: Driver) -> None:
        """Run what the text does several times, as a loop around it would."""
        text = f"The script was run {PASSES} times, as in a loop around it."
        harness.tell("name", "the loop", text)
        modern = self._text_of(harness.plan).modern
        kept = [s for s in modern.body if not (_defines(s) or isinstance(s, IMPORTS))]
        code = compile(ast.Module(kept, []), self._path, "exec", dont_inherit=True)
        for _ in range(PASSES - 1):
            harness.losses.begin_pass()
            exec(code, module.__dict__)
            if harness.plan.rooted:
                driver.finish()

    def _uses_of(self, plan: ValuePlan) -> Uses:
        return self._text_of(plan).uses

    def _text_of(self, plan: ValuePlan) -> ScriptText:
        return self._texts[plan.absent and True in self._texts]

    def _code(self, harness: SynthesizedValues) -> CodeType:
        tree = self._text_of(harness.plan).modern
        if harness.plan.carried and (names := handed_on(self._tree)):
            tree = filled_in(copy.deepcopy(tree), names)
            listed = ", ".join(f"`{name}`" for name in names)
            harness.tell(
                "name",
                "...",
                f"`...` was read as a new value of {listed}, computed from the old one.",
            )
        if harness.plan.omitted:
            tree = without_reports(tree, harness.plan.omitted)
            for text in harness.plan.omitted:
                harness.tell("name", text, f"`{text}` was left out: it only reports.")
        return compile(tree, self._path, "exec", dont_inherit=True)

    def _tried(self, plan: ValuePlan, trial: HarnessTrial) -> None:
        """Run once for the search: nothing is reported, and every ending is recorded."""
        harness = SynthesizedValues(
            self._tree, self._uses_of(plan), plan, lambda *_: None, searching=True
        )
        seed_everything()

        def attempt(name: str, call: Any) -> None:
            before, trial.driven = trial.driven, name or trial.driven
            call()
            trial.driven = before

        with _restored(), Watch(trial):
            try:
                self._live(harness, attempt)
            except (Enough, SystemExit):
                trial.failure = None
            except NeedsValue as wish:
                trial.wish = wish
            except BaseException as error:
                self._note(error, plan, trial)
        trial.invented_loss = harness.losses.invented
        trial.blind = harness.known_models.blind
        if harness.engine is not None:
            trial.backward_calls += harness.engine.backward_calls

    def _note(self, error: BaseException, plan: ValuePlan, trial: HarnessTrial) -> None:
        if trial.failure is None or trial.failure.error is not error:
            trial.failure = Failure(error)
        user = [e for e in failure.user_entries(error) if _file_of(e) == self._path]
        trial.callers = [self._lines_at(entry.tb_lineno) for entry in user[-2::-1]]
        line = user[-1].tb_lineno if user else 0
        trial.lines = self._lines_at(line)
        trial.report = report_of(_statement_at(self._text_of(plan).modern, line))
        statement = _statement_at(self._tree, line)
        if statement is not None:
            trial.held = _synthesized_in(user[-1].tb_frame, statement)

    def _lines_at(self, line: int) -> tuple[int, int]:
        """Return the first and the last line of the statement at a line."""
        statement = _statement_at(self._tree, line)
        if statement is None:
            return line, line
        return statement.lineno, statement.end_lineno or statement.lineno


def _import_ahead(text: ScriptText) -> None:
    """Import what is installed and the text needs: that takes longer than a search waits."""
    needed = [*absent.modules_named(text.modern), *(usual(n) for n in text.uses.of if usual(n))]
    for name in needed:
        with contextlib.suppress(Exception):  # the text's own line says what is wrong
            if absent.is_installed(name.partition(".")[0]):
                importlib.import_module(name)


def _take_tensors_for_arrays() -> None:
    """Treat synthesized NumPy arrays as tensors as well."""
    patched: Any = torch
    from_numpy = patched.from_numpy

    @wraps(from_numpy)
    def taken(array: Any) -> Any:
        return array if isinstance(array, torch.Tensor) else mark(from_numpy(array), array)

    patched.from_numpy = taken


def _load_batches_as_they_are() -> None:
    """Make a loader over synthesized batches yield these.

    All others read their data in this process: an error in a worker would not name the value.
    """
    loader: Any = torch.utils.data.DataLoader
    iterate, count = loader.__iter__, loader.__len__

    @wraps(iterate)
    def iterated(self: Any) -> Any:
        self.num_workers = self.timeout = 0
        return iter(self.dataset) if isinstance(self.dataset, Batches) else iterate(self)

    @wraps(count)
    def counted(self: Any) -> int:
        return len(self.dataset) if isinstance(self.dataset, Batches) else count(self)

    loader.__iter__, loader.__len__ = iterated, counted


def _file_of(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def _defines(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """Return the innermost simple statement at a line, or None."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(around, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def _synthesized_in(frame: FrameType, statement: ast.stmt) -> tuple[str, ...]:
    """Return the paths of synthesized values that a statement's own names hold."""
    names = [part.id for part in ast.walk(statement) if isinstance(part, ast.Name)]
    paths = map(made_path, map(frame.f_locals.get, names))
    return tuple(dict.fromkeys(path for path in paths if path))


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Restore what a script sets for the whole of torch."""
    dtype = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(True)
