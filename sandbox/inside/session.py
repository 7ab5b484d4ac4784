"""One run of one script, from seeds to the last record."""

from __future__ import annotations

import os
import platform
import random
import sys
import traceback
from types import ModuleType
from typing import Any

import torch

from . import frames
from .emitter import Emitter
from .engine import Engine, Stopped
from .frames import Json
from .reuse import ReuseWatch
from .stamps import Clock, Stamps


class Session:
    """Sets up the instruments that a job asks for, runs the script, tells how it ended."""

    def __init__(self, job: Json, emit_fd: int) -> None:
        self.job = job
        self.entry = str(job.get("entry") or "train.py")
        self.emitter = Emitter(emit_fd)
        self.stamps = Stamps()
        self.engine: Engine | None = None

    def run(self) -> int:
        """The exit code of the script."""
        frames.start_in(os.getcwd())
        seed_everything()
        if self.job.get("mode", "trace") != "plain":
            self._install()
        self.emitter.emit(
            {
                "t": "start",
                "v": 1,
                "torch": torch.__version__,
                "python": platform.python_version(),
                "entry": self.entry,
                "stamps": self.stamps.kind,
            }
        )
        reason, code = self._run_script()
        self.emitter.emit(
            {
                "t": "end",
                "reason": reason,
                "backwards": Clock.visits,
                "steps": Clock.steps,
                "truncated": self.engine.notes if self.engine else [],
            }
        )
        return code

    def _install(self) -> None:
        self.stamps.install()
        self.engine = Engine(
            self.stamps,
            [ReuseWatch(self.emitter, self.stamps)],
            keep_graphs=bool(self.job.get("keep_graphs") or self.job.get("reference")),
            stop_after=self.job.get("stop_after_backwards"),
        )
        self.engine.install()

    def _run_script(self) -> tuple[str, int]:
        try:
            run_as_main(self.entry, self.job.get("argv", []))
        except Stopped:
            return "stopped", 0
        except SystemExit as error:
            return "finished", exit_code(error)
        except BaseException as error:
            error.__traceback__ = script_traceback(error)
            sys.stdout.flush()
            traceback.print_exception(error)
            return "raised", 1
        return "finished", 0


def seed_everything() -> None:
    """Seed 0 for every source of randomness; a script's own seeds come later and win."""
    random.seed(0)
    torch.manual_seed(0)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def run_as_main(entry: str, argv: list[str]) -> None:
    """Run the file as `python entry argv…` would."""
    path = os.path.abspath(entry)
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    sys.path[0:0] = [os.path.dirname(path)]
    sys.argv = [entry, *argv]
    exec(code, module.__dict__)


def script_traceback(error: BaseException) -> Any:
    """The traceback without the frames that started the script."""
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename in _OWN_FILES:
        found = found.tb_next
    return found or error.__traceback__


_OWN_FILES = {__file__}


def exit_code(error: SystemExit) -> int:
    """What Python makes of `sys.exit(...)`; a message goes to standard error."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
