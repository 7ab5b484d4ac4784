"""One process of the command, from its first moment: what the box asks for is put in place."""

from __future__ import annotations

import atexit
import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from ..core.frames import Json

OLDEST = "2.1"
_READ_BY_TORCH = (
    *("TORCH", "PYTORCH", "ATEN", "CUDA", "NVIDIA", "NCCL", "TRITON", "HIP", "ROCR", "LD_"),
    *("OMP", "GOMP", "KMP", "MKL", "ONEDNN", "DNNL", "OPENBLAS", "BLIS", "VECLIB", "MALLOC"),
)


def begin(box: str) -> None:
    """Read the job of the box, and have it done as the program goes on."""
    job = _job(box)
    if "warm" in job and _is_to_serve(job):
        from . import overlay, warm

        overlay.through_runner(job["own"])
        box = warm.serve(box, job)
        job = _job(box)
    before = torch_settings()
    from . import scratch

    if job.get("scratch"):
        scratch.install(job["scratch"], job["kept"], job.get("made", ()), job.get("gone", ()))
    else:
        scratch.remember_folders()
    if job.get("overlay"):
        from . import overlay

        overlay.install(job["overlay"])
    sys.meta_path.insert(0, AfterTorch(lambda: _torch_is_there(box, job, before)))
    if job.get("early"):
        main_begins(lambda: _import_torch(box))
    else:
        _hear_engines(box, before, silent=bool(job.get("silent")))


def torch_settings() -> dict[str, str]:
    """Return the environment variables that torch and its libraries read while they load."""
    return {k: v for k, v in os.environ.items() if k.startswith(_READ_BY_TORCH)}


def changed(before: Mapping[str, str]) -> dict[str, str | None]:
    """Return the settings of torch that have changed since, and what they are now."""
    now = torch_settings()
    return {k: now.get(k) for k in before.keys() | now.keys() if before.get(k) != now.get(k)}


def _import_torch(box: str) -> None:
    """Import torch for a program that does without: what watches its own engine needs torch."""
    try:
        importlib.import_module("torch")
    except Exception as error:
        trouble(box, f"torch cannot be imported ({type(error).__name__}: {error})")


def _hear_engines(box: str, before: Mapping[str, str], *, silent: bool) -> None:
    """Have a program that never imports torch leave a report if an engine of its own fails; where
    `silent` faults are looked for, if it has one."""
    begun, process = time.time(), os.getpid()

    def ended() -> None:
        if "torch" in sys.modules or os.getpid() != process:
            return
        with suppress(Exception):  # the program never hears of it
            from .process_report import leave_for_engine

            leave_for_engine(box, begun, changed(before), silent=silent)

    atexit.register(ended)


def main_begins(call: Callable[[], None]) -> None:
    """Call as the first line of the main program is about to run, whatever it was started by."""
    from .overlay import RUNNER

    waiting = True

    def hear(event: str, args: tuple[Any, ...]) -> None:
        nonlocal waiting
        if waiting and event == "exec":
            main = getattr(sys.modules.get("__main__"), "__file__", None)
            if main and main != RUNNER and getattr(args[0], "co_filename", None) == main:
                waiting = False
                call()

    sys.addaudithook(hear)


def _job(box: str) -> Json:
    job: Json = json.loads(Path(box, "job.json").read_text())
    return job


def _is_to_serve(job: Json) -> bool:
    """Return True if this is the process that failed, started again, and no other of the
    command."""
    from .overlay import RUNNER

    words: list[str] = job["words"]
    return words == [word for word in sys.orig_argv if word != RUNNER]


def _torch_is_there(box: str, job: Json, before: Mapping[str, str]) -> None:
    from . import scratch

    scratch.torch_is_there()
    if job.get("mode") == "plain":
        return
    try:
        from .tracer import AttachedTracer

        AttachedTracer(box, job, changed(before)).begin()
    except Exception as error:
        version = getattr(sys.modules.get("torch"), "__version__", "?")
        why = f"{type(error).__name__}: {error}"
        trouble(box, f"torch {version} cannot be traced; {OLDEST} is the oldest that can ({why})")


def trouble(box: str, text: str) -> None:
    """Leave word of what keeps this process from being traced."""
    with suppress(OSError):  # the program goes on where the disk is full
        Path(box, f"trouble-{os.getpid()}").write_text(text)


class AfterTorch(importlib.abc.MetaPathFinder):
    """Calls once torch has been imported, by whomever; who only asks for it imports nothing."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._asking = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find torch as usual, with a loader that reports the import."""
        if fullname != "torch" or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking = False
        loader: Any = spec.loader if spec is not None else None
        if hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    self._call()

            loader.exec_module = exec_module
        return spec
