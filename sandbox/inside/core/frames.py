"""Whose code a frame runs, and what its lines are called.

Files of the user are spelled relative to the directory the run started in; files of libraries by
their module path (`torch/nn/modules/rnn.py`).
"""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import sysconfig
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from .positions import position_at

Json = dict[str, Any]

USER, LIBRARY, INNER = "user", "library", "inner"
WORKS, PASSES_ON = "works", "passes on"
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_OWN = (
    __file__.partition(".")[0] + "."  # modules kept as text in one file
    if __file__.startswith("<")
    else os.sep.join(os.path.realpath(__file__).split(os.sep)[:-3]) + os.sep  # and who starts it
)
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STDLIB = tuple(
    os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")
)
_installed: list[str] = []  # folders with packages, whatever they are called
_roots: list[str] = [os.getcwd()]
_launchers: set[str] = set()


_next_activation = itertools.count(1).__next__


class Mark:
    """What is remembered of a frame: its last stamp, and the instruction and the time it is for.

    It rides on the frame as its trace function, which Python keeps per frame and never looks at
    unless a debugger is on: the only place where a mark on a frame can live and die with it.
    """

    __slots__ = ("instruction", "stamp", "time")

    instruction: int  # set by who makes it: most calls of torch make one
    time: int
    stamp: list[str]

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Mark:
        return self


class Activation(Mark):
    """One call of a user's function, with the stamps of the present time, and its last note."""

    __slots__ = ("number", "since", "sites", "stamps", "standing")
    on_event: Callable[[FrameType, str, Any], None] | None = None  # while lines are followed

    def __init__(self) -> None:
        self.time = -1
        self.number = _next_activation()
        self.since = -1  # when `stamps` was begun
        self.stamps: dict[Hashable, Any] = {}
        self.sites: Any = None  # of its code, once something was stamped
        self.standing: Any = None  # where the engine was called last, in `standing`'s terms

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Activation:
        if Activation.on_event is not None:
            Activation.on_event(frame, event, arg)
        return self


def activation(frame: FrameType) -> Activation:
    """Return the mark of this call; a transient one while a debugger owns the frame."""
    mark = frame.f_trace
    if type(mark) is Activation:
        return mark
    mark_new = Activation()
    if mark is None:
        frame.f_trace = mark_new
    return mark_new


def start_in(*roots: str, launcher: str | None = None) -> None:
    """Say which directories hold the user's code; names are relative to the first that fits.

    `launcher` is a file there that is not the user's: the one that started the tracer.
    """
    _launchers.update({launcher} if launcher else ())
    _roots[:] = [os.path.realpath(root) for root in roots]
    folders = {os.path.realpath(folder) for folder in sys.path if folder} - {*_roots}
    _installed[:] = [folder + os.sep for folder in folders if _is_installed_into(folder)]
    OWNERS.clear()
    TORCH_MODULES.clear()
    file_name.cache_clear()
    works.cache_clear()
    _is_user_module_named.cache_clear()


def _is_installed_into(folder: str) -> bool:
    """Return True if an installer has put packages there, as `pip install --target` does."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def _in_package(path: str) -> str | None:
    """Return the path of a library's file below the folder of the packages; None for others."""
    for packages in _PACKAGES:
        if packages in path:
            return path.rpartition(packages)[2]
    return next((path[len(f) :] for f in _installed if path.startswith(f)), None)


class _Owners(dict[str, str]):
    """By the file of a code: `user`, `library`, or `inner` for torch, the standard library and the
    tracer itself. A table, for it is asked of every frame, and codes are slow to hash."""

    def __missing__(self, filename: str) -> str:
        found = self[filename] = _owner_of(filename)
        return found


OWNERS = _Owners()


class _TorchModules(dict[Any, str | None]):
    """By the name of a module, if it is torch's: whether its file `works`, or only passes calls on.

    Who asks a frame for its globals, instead of for its code, raises no audit event.
    """

    def __missing__(self, name: Any) -> str | None:
        module = sys.modules.get(name) if str(name).startswith("torch.") else None
        file = getattr(module, "__file__", None)
        found = None
        if isinstance(file, str) and OWNERS[file] is INNER:
            found = WORKS if works(file) else PASSES_ON
        self[name] = found
        return found


TORCH_MODULES = _TorchModules()


def owner(code: CodeType) -> str:
    """Return whose code it is."""
    return OWNERS[code.co_filename]


def is_own(code: CodeType) -> bool:
    """Return True if the code is the tracer's."""
    return is_own_file(code.co_filename)


def is_own_file(filename: str) -> bool:
    """Return True if the file, by the name Python has for it, is the tracer's."""
    return filename.startswith(_OWN) or filename in _launchers


def _owner_of(filename: str) -> str:
    if filename.startswith("<"):
        return INNER
    path = os.path.realpath(filename)
    if path.startswith(_OWN) or filename in _launchers:
        return INNER
    if (within := _in_package(path)) is not None:
        return INNER if within.split(os.sep)[0] == "torch" else LIBRARY
    # before the user's folders: a home may hold the interpreter too
    return INNER if path.startswith(_STDLIB) else USER


def is_user_module(module: Any) -> bool:
    """Return True if a module (or what `sys.modules` holds under its name) is a file of the
    user."""
    if getattr(module, "__name__", None) == "__main__":
        return True
    filename = getattr(module, "__file__", None)
    return isinstance(filename, str) and OWNERS[filename] == USER


def is_user_class(kind: type) -> bool:
    """Return True if the class was defined in the user's code."""
    return _is_user_module_named(kind.__module__)


@lru_cache(maxsize=4096)
def _is_user_module_named(name: str) -> bool:
    return is_user_module(sys.modules.get(name))


@lru_cache(maxsize=4096)
def file_name(filename: str) -> str:
    """Return the file's name in records."""
    path = os.path.realpath(filename) if not filename.startswith("<") else filename
    if (within := _in_package(path)) is not None:
        return within
    for root in (*_roots, *_STDLIB):
        if path.startswith(root.rstrip(os.sep) + os.sep):
            return path[len(root.rstrip(os.sep)) + 1 :]
    return filename


def function_name(code: CodeType) -> str:
    """Return the qualified name, if this Python knows it."""
    return str(getattr(code, "co_qualname", code.co_name))


def place(frame: FrameType) -> Json:
    """Return the line that the frame is at, with the number of its activation."""
    code = frame.f_code
    return {
        "file": file_name(code.co_filename),
        "line": frame.f_lineno or 0,
        "function": function_name(code),
        "frame": activation(frame).number,
        "column": position_at(code, frame.f_lasti)[1],
    }


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame, from this one outward, that runs the user's code."""
    while frame is not None and OWNERS[frame.f_code.co_filename] is not USER:
        frame = frame.f_back
    return frame


def user_place(frame: FrameType | None) -> Json | None:
    """Return the user's line that led to this frame."""
    found = user_frame(frame)
    return place(found) if found is not None else None


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the user's frames from this one outward."""
    while (frame := user_frame(frame)) is not None:
        yield frame
        frame = frame.f_back


def local_values(frame: FrameType) -> list[tuple[str, Any]]:
    """Return the names and values of a frame, leaving no reference.

    Before Python 3.13 a frame keeps the dictionary it hands out, and with it every tensor that had
    a name then; it is emptied again unless the script holds it too (by `locals()`).
    """
    names = frame.f_locals
    values = list(names.items())
    ours_alone = sys.getrefcount(names) <= 3
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and type(names) is dict and ours_alone:
        names.clear()
    return values


def stack(frame: FrameType | None) -> list[Json]:
    """Return the user's frames, outermost first, at most the innermost 40."""
    return [place(found) for found in user_frames(frame)][:40][::-1]


def library_name(frame: FrameType) -> str:
    """Return a library's frame in one line: `torch/optim/lbfgs.py:421 in step`."""
    code = frame.f_code
    return f"{file_name(code.co_filename)}:{frame.f_lineno or 0} in {function_name(code)}"


_PLUMBING = (
    *("_tensor.py", "_compile.py", "overrides.py", "autograd/", "_dynamo/"),
    "utils/_contextlib.py",
)


def _is_plumbing(name: str) -> bool:
    """Return True if the file only passes calls on."""
    own = os.path.isabs(name) and name.startswith(_OWN)
    return own or name.startswith(tuple(f"torch/{part}" for part in _PLUMBING))


@lru_cache(maxsize=4096)
def works(filename: str) -> bool:
    """Return True if the file belongs to a library and does more than pass calls on."""
    name = file_name(filename)
    return not name.startswith("<") and not os.path.isabs(name) and not _is_plumbing(name)


def maker(frame: FrameType | None) -> str | None:
    """Return the library frame below the user's line that did the work, plumbing aside."""
    while frame is not None and owner(frame.f_code) != USER:
        if works(frame.f_code.co_filename):
            return library_name(frame)
        frame = frame.f_back
    return None
