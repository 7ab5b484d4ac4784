"""`python -m tests.fuzz [--seconds N] [--seed N]`: grammar-based fuzzing of all that reads.

Each program is read and explained as it is, and again after random cuts and swaps of its lines;
and its lines are made the frames of a traceback that is sent alone. Anything but a result within
the time limit is printed with its program, and ends the run with status 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.request.examine import examine
from analyzers.source.project import Project
from analyzers.tracebacks import parse
from tests.fuzz.grammar import Writer

LIMIT_S = 5.0
MESSAGES = (
    "RuntimeError: Trying to backward through the graph a second time",
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation",
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
)


def mutated(text: str, source: random.Random) -> str:
    """The program with a few lines cut, doubled or swapped."""
    lines = text.splitlines()
    for _ in range(source.randint(1, 4)):
        at, other = source.randrange(len(lines)), source.randrange(len(lines))
        match source.randrange(3):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines.insert(at, lines[other])
            case _ if len(lines) > 2:
                del lines[at]
    return "\n".join(lines) + "\n"


FAMILIES = ("graph-reuse", "inplace", "no-grad")


def traceback_of(text: str) -> str:
    """A traceback whose frames show the program's lines."""
    frames = [
        f'  File "train.py", line {number}, in step\n    {line.strip()}\n'
        for number, line in enumerate(text.splitlines(), 1)
    ]
    message = MESSAGES[len(text) % len(MESSAGES)]
    return "Traceback (most recent call last):\n" + "".join(frames[-40:]) + message


def tried(text: str) -> str | None:
    """What went wrong with one program, if anything did."""
    started = time.perf_counter()
    try:
        project = Project({"train.py": text})
        for error in ("", *FAMILIES):
            classify(project, read(project, suspecting=error).evidence)
        alone = examine("", "train.py", {}, traceback_of(text))
        classify(Project(alone.files, alone.entry, recalled=True), alone.reading.evidence)
        parse(text)
    except Exception:
        return traceback.format_exc()
    seconds = time.perf_counter() - started
    return f"took {seconds:.1f} s" if seconds > LIMIT_S else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    seed, read_well, slowest = options.seed, 0, 0.0
    while time.monotonic() < end:
        program = Writer(seed).program()
        for text in (program, mutated(program, random.Random(seed))):
            started = time.perf_counter()
            problem = tried(text)
            slowest = max(slowest, time.perf_counter() - started)
            if problem is not None:
                print(f"seed {seed}\n{text}\n{problem}")
                return 1
            read_well += Project({"train.py": text}).module("train.py") is not None
        seed += 1
    print(f"{seed - options.seed} programs, {read_well} texts parsed, slowest {slowest:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
