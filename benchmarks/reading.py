"""What a full reading costs, as a ratio to parsing the same text.

    python -m benchmarks.reading [--repeats N] [--lines N]

The same code at every length: the repository's own cases, some ten thousand lines, are joined to
scripts of 50 lines, of 100, and so on up to a single one. Each row is the mean over its scripts
(the median of several rounds): `ast.parse`; a full reading (parsing included) and its ratio to
that; microseconds a line; and explaining what was found, with every candidate patch (parsing
included), with its ratio and how many pieces of evidence there were for each script. The process
is made ready as the service's workers are.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import time
from collections.abc import Callable

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from app.request.reader import import_analyzers
from tests.case_files import Case, load_cases

SIZES = (50, 100, 500, 2_000, 10_000)


def bodies(lines: int) -> list[str]:
    """Whole cases of every kind, mixed, about this many lines of them."""
    texts = [text for case in load_cases() for text in _written(case)]
    texts = [text for text in texts if "from __future__" not in text and "__main__" not in text]
    found: list[str] = []
    for index in range(len(texts)):
        found.append(texts[index * 37 % len(texts)])
        lines -= found[-1].count("\n")
        if lines <= 0:
            break
    return found


def _written(case: Case) -> list[str]:
    """A case of one script, and its repairs."""
    if case.files or case.notebook:
        return []
    return [case.stripped, *(variant.text for variant in (*case.fixed, *case.wrong))]


def scripts(cases: list[str], size: int) -> list[str]:
    """The cases joined to scripts of about so many lines."""
    joined = [""]
    for case in cases:
        if joined[-1] and joined[-1].count("\n") + case.count("\n") / 2 > size:
            joined.append("")
        joined[-1] += case
    return joined


def mean_ms(call: Callable[[str], object], texts: list[str], repeats: int) -> float:
    """Processor time of a call for one text, in milliseconds: the median round's mean."""
    rounds = []
    for _ in range(repeats):
        started = time.process_time()
        for text in texts:
            call(text)
        rounds.append((time.process_time() - started) / len(texts))
    return statistics.median(rounds) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lines", type=int, default=SIZES[-1], help="of code in all")
    options = parser.parse_args()
    import_analyzers()
    cases = bodies(options.lines)
    print(f"{'lines':>7}{'scripts':>9}{'ast.parse ms':>14}{'reading ms':>12}{'ratio':>7}"
          f"{'µs a line':>11}{'explaining ms':>15}{'ratio':>7}{'evidence':>10}")  # fmt: skip
    for size in (size for size in SIZES if size <= options.lines):
        texts = scripts(cases, size) if size < options.lines else ["".join(cases)]
        lines = sum(text.count("\n") for text in texts) / len(texts)
        evidence = {text: read(Project({"train.py": text})).evidence for text in texts}
        found = sum(len(pieces) for pieces in evidence.values()) / len(texts)
        parsing = mean_ms(ast.parse, texts, options.repeats)
        reading = mean_ms(lambda text: read(Project({"train.py": text})), texts, options.repeats)
        explaining = mean_ms(
            lambda text: classify(Project({"train.py": text}), evidence[text]),  # noqa: B023
            texts,
            options.repeats,
        )
        print(f"{lines:>7.0f}{len(texts):>9}{parsing:>14.2f}{reading:>12.2f}"
              f"{reading / parsing:>7.1f}{reading / lines * 1e3:>11.1f}{explaining:>15.1f}"
              f"{explaining / parsing:>7.1f}{found:>10.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
