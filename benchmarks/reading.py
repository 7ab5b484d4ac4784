"""What a full reading costs, as a ratio to parsing the same text.

    python -m benchmarks.reading [--repeats N]

Scripts of growing length are made of the repository's own cases: each becomes a function body in
one long script, so that length grows without any single construct growing. The process is made
ready as the service's workers are. Prints the median
time of `ast.parse`, of a full reading (parsing included), their ratio, and microseconds a line.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from analyzers.reading import read
from analyzers.source import Project
from app.reader import import_analyzers

SIZES = (50, 100, 500, 2_000, 10_000)
CASES = Path(__file__).parent.parent / "tests" / "cases"


def script_of(lines: int) -> str:
    """A script of about this many lines: whole cases one after another, each in a function."""
    made: list[str] = []
    bodies = [path.read_text() for path in sorted(CASES.glob("*/*.py"))]
    index = 0
    while len(made) < lines:
        body = bodies[index * 37 % len(bodies)].splitlines()
        index += 1
        if len(made) + len(body) > lines * 1.2:
            body = body[: 0 if index % 50 else len(body)]
        if any(line.startswith(("from __future__", "if __name__")) for line in body):
            continue
        made += body
    return "\n".join(made) + "\n"


def median(call: Callable[[], object], repeats: int) -> float:
    """The median processor time of a call, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    import_analyzers()
    read(Project({"train.py": "loss.backward()\n"}))
    print(f"{'lines':>7}{'ast.parse ms':>14}{'reading ms':>12}{'ratio':>8}{'µs a line':>11}"
          f"{'findings':>10}  not followed")  # fmt: skip
    for size in SIZES:
        text = script_of(size)
        lines = text.count("\n")
        parsing = median(lambda text=text: ast.parse(text), options.repeats)  # type: ignore[misc]
        reading = median(
            lambda text=text: read(Project({"train.py": text})),  # type: ignore[misc]
            options.repeats,
        )
        result = read(Project({"train.py": text}))
        print(f"{lines:>7}{parsing * 1e3:>14.2f}{reading * 1e3:>12.2f}{reading / parsing:>8.1f}"
              f"{reading / lines * 1e6:>11.1f}{len(result.evidence):>10}"
              f"  {'; '.join(result.incomplete)}")  # fmt: skip


if __name__ == "__main__":
    main()
