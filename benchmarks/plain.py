"""What a person sees who runs a script themselves: its traceback, and where anomaly mode points."""

from __future__ import annotations

import contextlib
import json
import linecache
import multiprocessing
import os
import random
import re
import runpy
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch

FRAME = re.compile(r'File "([^"]+)", line (\d+)')
TIME_LIMIT_S = 60


@dataclass(frozen=True)
class Line:
    """A line of the user's own code. In a notebook `file` names the cell, so `code` decides."""

    file: str
    line: int
    code: str


@dataclass(frozen=True)
class Sight:
    """What a run printed. Empty and None where nothing was raised, or nothing was pointed at."""

    traceback: str = ""
    last: Line | None = None  # innermost line of the user's own code in the traceback
    anomaly: Line | None = None  # innermost line of the forward call that anomaly mode names


def watch(files: dict[str, str], entry: str, anomaly: bool = False) -> Sight:
    """Run `files[entry]` in a fork, in a directory of its own, as `python ENTRY` would."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as directory:
        for path, text in files.items():
            target = Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        process = fork.Process(target=_in_child, args=(Path(directory), entry, anomaly, sender))
        process.start()
        sender.close()
        try:
            sight: Sight = receiver.recv() if receiver.poll(TIME_LIMIT_S) else Sight()
            return sight
        except EOFError:
            return Sight()
        finally:
            process.kill()
            process.join()


def _in_child(directory: Path, entry: str, anomaly: bool, sender: Connection) -> None:
    os.chdir(directory)
    sys.path.insert(0, str(directory))
    sys.argv = [entry]
    torch.set_num_threads(1)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.autograd.set_detect_anomaly(anomaly)
            error = _raised_by(directory / entry)
    pointed = "\n".join(str(warning.message) for warning in caught) if anomaly else ""
    sender.send(_sight(error, pointed, directory))


def _raised_by(path: Path) -> BaseException | None:
    try:
        if path.suffix == ".ipynb":
            _run_cells(path)
        else:
            runpy.run_path(str(path), run_name="__main__")
    except SystemExit:
        return None
    except BaseException as error:  # whatever a script raises is what its author sees
        return error
    return None


def _run_cells(path: Path) -> None:
    """By their counts; a gap in the counts is an earlier run of that cell."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    last = 0
    for cell in sorted(cells, key=lambda cell: cell["execution_count"]):
        source = "".join(cell["source"])
        for count in range(last + 1, cell["execution_count"] + 1):
            name = f"<ipython-input-{count}-{abs(hash(source)):012x}>"
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            exec(compile(source, name, "exec"), namespace)
        last = cell["execution_count"]


def _sight(error: BaseException | None, pointed: str, directory: Path) -> Sight:
    if error is None:
        return Sight()
    start = error.__traceback__
    while start is not None and not _own(start.tb_frame.f_code.co_filename, directory):
        start = start.tb_next
    text = "".join(traceback.format_exception(type(error), error, start))
    return Sight(text, _innermost(_format(start), directory), _innermost(pointed, directory))


def _format(start: TracebackType | None) -> str:
    return "".join(traceback.format_tb(start))


def _own(file: str, directory: Path) -> bool:
    return file.startswith((str(directory), "<ipython-input"))


def _innermost(text: str, directory: Path) -> Line | None:
    """The last frame of the user's own code in a printed stack."""
    own = [(file, int(line)) for file, line in FRAME.findall(text) if _own(file, directory)]
    if not own:
        return None
    file, line = own[-1]
    return Line(Path(file).name, line, linecache.getline(file, line).strip())
