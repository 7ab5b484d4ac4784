"""Files that were not sent: made up by whoever reads them, in the form that it wants."""

from __future__ import annotations

import builtins
import glob
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from ..frames import USER, owner
from . import pictures
from .arguments import value_for
from .configs import Config
from .finding import Report, insists, when_imported
from .noise import COLUMNS, ROWS, noise
from .nothing import NothingModule

WORDS = (
    *(["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]),
    *(["she", "sells", "sea", "shells", "by", "the", "sea", "shore"]),
    *(["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]),
)
_PACKED = (".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".bin", ".p")
_OPENERS = ("codecs", "gzip", "pathlib", "torch.serialization")
IMAGES = 8
_report: Report | None = None


def made_up(name: Any, what: str) -> None:
    """Tell that a file was made up."""
    if _report is not None:
        _report(str(name), f"`{name}` was not sent: {what} was made up.", "file")


def install(report: Report) -> None:
    """Stand behind the functions that read files."""
    global _report
    _report = report
    _texts()
    _arrays()
    _objects()
    when_imported("PIL.Image", _pictures)
    _directories()
    _commands(report)
    _demands()


def asked_by_user() -> bool:
    """Whether the call into this module comes from the script, and not from a library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _passes_on(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame is not None and owner(frame.f_code) == USER


def _passes_on(module: str) -> bool:
    """Whether a module opens files for those who call it."""
    return module.startswith(str(__package__)) or module in _OPENERS


def is_missing(file: Any) -> bool:
    """Whether this names a file that is not there."""
    return isinstance(file, str | Path) and not os.path.exists(file)


def text_for(name: str) -> str:
    """What a text file of this name may hold."""
    end = Path(name).suffix.lower()
    if end in (".csv", ".tsv", ".data"):
        comma = "\t" if end == ".tsv" else ","
        numbers = np.random.default_rng(0).random((ROWS, COLUMNS - 1)).round(3)
        rows = [[*map(str, row), str(n % 2)] for n, row in enumerate(numbers)]
        names = [f"x{n}" for n in range(COLUMNS - 1)] + ["label"]
        return "".join(comma.join(row) + "\n" for row in [names, *rows])
    if end in (".json", ".jsonl"):
        return "{}\n"
    if end in (".yaml", ".yml", ".cfg", ".ini", ".toml"):
        return ""
    return "".join(" ".join(WORDS[n % 7 : n % 7 + 12]) + ".\n" for n in range(ROWS))


def _texts() -> None:
    """`open` for reading: a text with words, a table, an empty mapping; bytes of noise."""
    real = builtins.open

    @wraps(real)
    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return real(file, mode, *args, **kwargs)
        except FileNotFoundError:
            if not is_missing(file) or not asked_by_user():
                raise
            if any(letter in mode for letter in "wax"):
                if os.path.isabs(file):
                    raise
                os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
                return real(file, mode, *args, **kwargs)
            return _made(str(file), mode)

    builtins.open = opened
    setattr(io, "open", opened)  # noqa: B010 (the same function under another name)


class MadeUp(io.StringIO):
    """A text that was made up, which a parser may take for a whole configuration."""

    name = ""


class MadeUpBytes(io.BytesIO):
    """Bytes that were made up, which a loader may take for an object."""

    name = ""


def _made(name: str, mode: str) -> Any:
    if "b" in mode:
        made_up(name, "what its reader wants")
        data = np.random.default_rng(0).integers(0, 256, 4096, dtype=np.uint8).tobytes()
        found: Any = MadeUpBytes(data)
    else:
        made_up(name, "a small text of its kind")
        found = MadeUp(text_for(name))
    found.name = name
    return found


class Answers(Config):
    """A mapping that has every key it is asked for, with a value that fits the key's name."""

    def __missing__(self, key: Any) -> Any:
        self[key] = value_for(str(key), _kind_of(str(key)))
        return self[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if default is None else super().get(key, default)

    def __contains__(self, key: Any) -> bool:
        return True


def _kind_of(name: str) -> Any:
    """Whether a setting of this name is a whole number, another number, or a word."""
    whole = value_for(name, str)
    if whole != name:
        return str
    for text, kind in ((value_for(name, float), float),):
        if text == 0.5:
            return str
        return int if float(text).is_integer() else kind
    return str


def _arrays() -> None:
    """`np.load`, `np.loadtxt`, `np.genfromtxt`, `np.fromfile`, `np.memmap`."""
    patched: Any = np
    for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap"):
        original = getattr(patched, name)
        if isinstance(original, type):
            setattr(patched, name, _Mapped)
        else:
            setattr(patched, name, _reading(original, name))


def _reading(original: Any, name: str) -> Any:
    @wraps(original)
    def reading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, MadeUpBytes) or (is_missing(file) and asked_by_user()):
            made_up(getattr(file, "name", file), "an array of noise")
            if name == "load" and str(file).endswith(".npz"):
                return Arrays()
            flat = name == "fromfile"
            kind = kwargs.get("dtype") or (args[0] if flat and args else None)
            shape = (ROWS * COLUMNS,) if flat else None if name == "load" else (ROWS, COLUMNS)
            return noise(Path(str(file)).name, shape, kind)
        return original(file, *args, **kwargs)

    return reading


class Arrays(dict[str, Any]):
    """An `.npz` that has every array it is asked for."""

    files: tuple[str, ...] = ()

    def __missing__(self, key: str) -> Any:
        self[key] = noise(key)
        return self[key]

    def __contains__(self, key: Any) -> bool:
        return True

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Mapped(np.memmap):
    """An array in a file; in memory, where the file was not sent."""

    def __new__(cls, file: Any, *args: Any, **kwargs: Any) -> Any:
        mode = kwargs.get("mode", args[1] if len(args) > 1 else "r+")
        if not is_missing(file) or str(mode).startswith("w"):
            return np.memmap.__new__(cls, file, *args, **kwargs)
        made_up(file, "an array of noise")
        kind = kwargs.get("dtype", args[0] if args else np.uint8)
        shape = kwargs.get("shape") or (ROWS * COLUMNS * 4,)
        return noise(str(file), shape if isinstance(shape, tuple) else (shape,), kind)


def _objects() -> None:
    """`torch.load`, `pickle.load`, `json.load`, `yaml.load` of what was made up."""
    patched: Any = torch
    load, unpickle, parse = patched.load, pickle.load, json.load

    @wraps(load)
    def loading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, MadeUpBytes) or (is_missing(file) and asked_by_user()):
            name = str(getattr(file, "name", file))
            made_up(name, "noise, as a tensor or as a state,")
            return State(name=Path(name).name)
        return load(file, *args, **kwargs)

    @wraps(unpickle)
    def unpickling(file: Any, *args: Any, **kwargs: Any) -> Any:
        return Answers() if isinstance(file, MadeUpBytes) else unpickle(file, *args, **kwargs)

    @wraps(parse)
    def parsing(file: Any, *args: Any, **kwargs: Any) -> Any:
        return Answers() if isinstance(file, MadeUp) else parse(file, *args, **kwargs)

    patched.load = loading
    setattr(pickle, "load", unpickling)  # noqa: B010 (a function of C)
    setattr(json, "load", parsing)  # noqa: B010 (typed otherwise)
    when_imported("yaml", _yaml)


def _yaml(yaml: Any) -> None:
    for name in ("load", "safe_load", "full_load"):
        original = getattr(yaml, name)

        def parsing(stream: Any, *args: Any, original: Any = original, **kwargs: Any) -> Any:
            return Answers() if isinstance(stream, MadeUp) else original(stream, *args, **kwargs)

        setattr(yaml, name, parsing)


def _pictures(pillow: Any) -> None:
    """`Image.open` of the real Pillow; its likeness makes pictures itself."""
    if isinstance(pillow, NothingModule):
        return
    original = pillow.open

    @wraps(original)
    def opening(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, MadeUpBytes) or (is_missing(file) and asked_by_user()):
            name = getattr(file, "name", file)
            made_up(name, "a picture of noise")
            return pillow.fromarray(pictures.noise(name, (pictures.SIDE, pictures.SIDE, 3)))
        return original(file, *args, **kwargs)

    pillow.open = opening


class State(Answers):
    """A checkpoint that was made up: what is loaded from it changes nothing. What is asked of it
    as of a tensor it answers as one."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.__dict__.update(_name=name, _tensor=None)

    def __missing__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._as_tensor()[key]
        whole = {"epoch": 0, "step": 0, "iteration": 0, "global_step": 0, "start_epoch": 0}
        self[key] = whole[key.lower()] if key.lower() in whole else State(key)
        return self[key]

    def __getattr__(self, name: str) -> Any:
        if not self and hasattr(torch.Tensor, name):
            return getattr(self._as_tensor(), name)
        return super().__getattr__(name)

    def __iter__(self) -> Iterator[Any]:
        return super().__iter__() if self else iter(self._as_tensor())

    def __len__(self) -> int:
        return super().__len__() or len(self._as_tensor())

    def __bool__(self) -> bool:
        return super().__len__() > 0

    def _as_tensor(self) -> torch.Tensor:
        if self._tensor is None:
            self.__dict__["_tensor"] = torch.from_numpy(noise(self._name))
        made: torch.Tensor = self._tensor
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def real(value: Any) -> Any:
            return value._as_tensor() if isinstance(value, State) else value

        return func(*map(real, args), **{k: real(v) for k, v in (kwargs or {}).items()})


def _on_tensor(name: str) -> Any:
    return lambda self, *others: getattr(self._as_tensor(), name)(*others)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "matmul", "gt", "lt", "neg"):
    setattr(State, f"__{_name}__", _on_tensor(f"__{_name}__"))


def _directories() -> None:
    """Directories that are listed before anybody made them; states that were made up and are
    loaded into modules and optimizers."""
    os_: Any = os
    os_.listdir = _listing(os.listdir)
    glob.glob = _globbing(glob.glob)
    patched: Any = torch.nn.Module
    for kind in (patched, torch.optim.Optimizer):
        _loading_nothing(kind)


def _listing(original: Any) -> Any:
    @wraps(original)
    def listing(path: Any = ".") -> Any:
        if is_missing(path) and asked_by_user():
            made_up(path, "a directory of some images")
            return [f"{n}.png" for n in range(IMAGES)]
        return original(path)

    return listing


def _globbing(original: Any) -> Any:
    @wraps(original)
    def globbing(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(pattern, *args, **kwargs)
        missing = not os.path.exists(os.path.dirname(str(pattern).partition("*")[0]) or ".")
        if found or not missing or "*" not in str(pattern) or not asked_by_user():
            return found
        made_up(pattern, "some files of that name")
        return [_matching(str(pattern), n) for n in range(IMAGES)]

    return globbing


def _matching(pattern: str, number: int) -> str:
    """A path that a pattern fits."""
    return pattern.replace("**/", "").replace("*.*", f"{number}.png").replace("*", str(number))


def _loading_nothing(kind: Any) -> None:
    load = kind.load_state_dict

    @wraps(load)
    def loading(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state, State):
            return None
        return load(self, state, *args, **kwargs)

    kind.load_state_dict = loading


def _demands() -> None:
    """Whether a file is there, asked by who ends the script if it is not."""
    paths: Any = os.path
    for name in ("exists", "isfile", "isdir"):
        paths.__dict__[name] = _insisted(getattr(paths, name), name)


def _insisted(original: Any, name: str) -> Any:
    @wraps(original)
    def asked(path: Any) -> bool:
        found = bool(original(path))
        if found or not insists(sys._getframe(1)):
            return found
        what = "a directory" if name == "isdir" else "what its reader wants"
        made_up(path, what)
        return True

    return asked


def _commands(report: Report) -> None:
    """Commands of a shell, which the walls do not have: they end well and print nothing, but for
    the size of a terminal."""

    def answer(command: Any) -> str:
        words = command if isinstance(command, str) else " ".join(map(str, command))
        report("subprocess", f"commands are not run: `{words.split(' ')[0][:40]}`")
        return "24 80\n" if "stty" in words else ""

    def popen(command: Any, *args: Any, **kwargs: Any) -> Any:
        return io.StringIO(answer(command))

    def run(command: Any, *args: Any, **kwargs: Any) -> Any:
        told = answer(command)
        text = kwargs.get("text") or kwargs.get("universal_newlines")
        output: Any = told if text else told.encode()
        return subprocess.CompletedProcess(command, 0, output, type(output)())

    os_: Any = os
    process: Any = subprocess
    os_.popen, process.run = popen, run
    os_.system = process.call = process.check_call = lambda *a, **k: run(*a, **k).returncode
    process.check_output = lambda *a, **k: run(*a, **k).stdout
    process.getoutput = lambda command, **k: answer(command)
