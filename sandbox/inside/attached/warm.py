"""Runs that are forked from one interpreter of the command's, which has torch imported already.

It waits where every Python of a command begins, before the program does: a fork goes on from there
as a fresh interpreter would. Torch is put aside in it until the program imports it.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import importlib
import importlib.abc
import json
import os
import re
import select
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..core.frames import Json

MOST_BYTES = 1 << 16
POLL_S = 0.02  # between looks at the runs that go on
_FAILED = 70  # exit code of a fork that could not begin; it leaves no records, so it runs again
_ACTIVE = ("torch._inductor", "torch.distributed")  # what starts processes, or may be asked to
_PR_SET_PDEATHSIG = 1


def serve(home: str, job: Json) -> str:
    """Import torch, then fork a run for each box that is asked for. Returns in the forks alone,
    with their box."""
    channel = socket.socket(fileno=job["warm"])
    os.set_inheritable(channel.fileno(), False)
    with _settings(job["settings"]):
        refused = _prepared(job["own"], job["load"])
    _send(channel, **({"refused": refused} if refused else {"ready": True}))
    running: dict[int, str] = {}
    while not refused:
        _report_ended(running, channel)
        if not select.select([channel], [], [], POLL_S if running else None)[0]:
            continue
        if not (asked := channel.recv(MOST_BYTES)):
            break
        box, parent = json.loads(asked)["box"], os.getpid()
        pid = os.fork()
        if pid == 0:
            return _begun(home, box, channel, parent, _taken(job["own"]))
        running[pid] = box
    os._exit(0)


@contextmanager
def _settings(wanted: Mapping[str, str | None]) -> Iterator[None]:
    """Have environment variables as the program sets them before it imports torch."""
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _report_ended(running: dict[int, str], channel: socket.socket) -> None:
    """Send the exit codes of the runs that have ended, and forget those."""
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _send(channel, box=running.pop(pid), ended=os.waitstatus_to_exitcode(status))


def _send(channel: socket.socket, **fields: object) -> None:
    channel.send(json.dumps(fields).encode())


def _prepared(own: Iterable[str], load: Iterable[str]) -> str:
    """Import what runs need, and `load` of torch; why they cannot be forked, if so."""
    try:
        torch: Any = importlib.import_module("torch")
        from .. import script_run, warm  # noqa: F401
        from . import overlay, scratch, tracer  # noqa: F401
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for name in load:
        if not name.startswith(_ACTIVE):
            with suppress(Exception):
                importlib.import_module(name)
    if torch.cuda.is_initialized():
        return "torch uses the device as soon as it is imported"
    if threading.active_count() > 1:
        return "the interpreter has threads before the program begins"
    if needed := _needed(_taken(own)):
        return f"{needed[0]} is a module of the program's, too"
    gc.collect()
    gc.freeze()
    return ""


def _taken(own: Iterable[str]) -> set[str]:
    """Return the names of modules of the program's by which others are imported already."""
    return {module_name(path) for path in own} & set(sys.modules)


def _needed(names: set[str]) -> list[str]:
    """Return those of these modules that a fork cannot put away: Python's, torch's, and what torch
    requires. The rest is what torch uses where it is installed, such as tqdm."""
    if not names:
        return []
    import importlib.metadata

    try:
        required = importlib.metadata.requires("torch") or []
    except importlib.metadata.PackageNotFoundError:
        return sorted(names)
    always = [re.split(r"[^\w.-]", line)[0].replace("-", "_") for line in required]
    return sorted(names & {"torch", "numpy", *always, *sys.stdlib_module_names})


def module_name(path: str) -> str:
    """Return the name by which a file in a folder of the path is imported; "" in a package, whose
    modules have its name too."""
    folder, name = os.path.split(path)
    if name == "__init__.py":
        folder, name = os.path.split(folder)
    if os.path.exists(os.path.join(folder, "__init__.py")):
        return ""
    return name.removesuffix(".py")


def _begun(home: str, box: str, channel: socket.socket, parent: int, taken: set[str]) -> str:
    """Set up, in the fork, what differs from one run to the next; put away modules of the names
    that are taken."""
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(_FAILED)
        for name, descriptor in (("out", 1), ("err", 2)):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            opened = os.open(os.path.join(box, name), flags, 0o600)
            os.dup2(opened, descriptor)
            os.close(opened)
        _send(channel, box=box, pid=os.getpid())
        channel.close()
        os.environ["GRADMEND_BESIDE"] = box
        if os.environ.get("TMPDIR") == os.path.join(home, "tmp"):
            os.environ["TMPDIR"] = os.path.join(box, "tmp")
            tempfile.tempdir = None
        _settle(taken)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(_FAILED)
    return box


def _settle(taken: set[str]) -> None:
    """Restore the state of a fresh interpreter: new random seeds, torch not imported yet, nor what
    the program has modules of its own for."""
    from ..warm import settle

    settle()
    torch: Any = sys.modules["torch"]
    torch.default_generator.seed()
    random: Any = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()
    names = [name for name in sys.modules if name.partition(".")[0] == "torch"]
    for name in [name for name in sys.modules if name.partition(".")[0] in taken]:
        del sys.modules[name]
    sys.meta_path.insert(0, PutAside({name: sys.modules.pop(name) for name in names}))


class PutAside(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Torch's modules, loaded and not imported: they are there again once the program imports
    torch."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self._modules = modules
        self._spec: Any = modules["torch"].__spec__

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find torch here."""
        if fullname != "torch":
            return None
        spec: ModuleSpec = copy.copy(self._spec)
        spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module as it is."""
        return self._modules["torch"]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has run already."""
        module.__spec__ = self._spec
        sys.meta_path.remove(self)
        sys.modules.update(self._modules)
