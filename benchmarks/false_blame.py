"""How often correct code is blamed: reads every Python file of installed libraries.

    python -m benchmarks.false_blame [DIRECTORY ...] [--show]

Without directories: the installed torch. Each file is read as a script of its own. Prints files,
crashes, files over one second, findings, and the share of the files with a walk that have one;
every finding in correct code is a false alarm.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analyzers.evidence import Evidence, GraphReuse, InplaceChange, MissingGraph
from analyzers.reading import read
from analyzers.source.project import Project


@dataclass
class Tally:
    """What reading one library gave; times are processor seconds."""

    name: str
    files: int = 0
    with_walks: int = 0
    crashes: list[str] = field(default_factory=list)
    slow: list[tuple[float, str]] = field(default_factory=list)
    findings: list[tuple[str, Evidence]] = field(default_factory=list)
    blamed: int = 0
    incomplete: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    total: float = 0.0


def sources(directory: Path) -> Iterator[tuple[Path, str]]:
    """Every Python file that is UTF-8 text."""
    for path in sorted(directory.rglob("*.py")):
        try:
            yield path, path.read_text()
        except UnicodeDecodeError:
            continue


def tally(directory: Path) -> Tally:
    """Read every file below a directory."""
    result = Tally(directory.name)
    for path, text in sources(directory):
        name = str(path.relative_to(directory.parent))
        result.files += 1
        started = time.process_time()
        try:
            reading = read(Project({name: text}, name))
        except Exception:
            result.crashes.append(f"{name}\n{traceback.format_exc(limit=-3)}")
            continue
        seconds = time.process_time() - started
        result.total += seconds
        result.slowest = max(result.slowest, seconds)
        result.with_walks += bool(reading.backward_lines)
        result.incomplete.update(reading.incomplete)
        result.findings.extend((name, found) for found in reading.evidence)
        result.blamed += bool(reading.evidence)
        if seconds > 1:
            result.slow.append((seconds, name))
    return result


def said(found: Evidence) -> str:
    """A finding in one line."""
    match found:
        case GraphReuse():
            carried = [h.path for join in found.stale_edges for h in join.holders[:2]]
            return f"reuse: freed {found.freed.at.line}, reached {found.reached.at.line}, {carried}"
        case InplaceChange():
            changed = [c.at.line for c in found.changes if c.at]
            return f"inplace {found.kind}: at {found.at and found.at.line}, changed {changed}"
        case MissingGraph():
            return f"missing: {found.lost_by} at {found.at and found.at.line}"
    return f"silent: {found.kind} at {found.at and found.at.line}"


def installed_torch() -> Path:
    """The directory of the installed torch, found without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("torch is not installed: name a directory")
    return Path(spec.origin).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true", help="print every finding and crash")
    options = parser.parse_args()
    print(f"{'library':20}{'files':>7}{'walks':>7}{'crashes':>9}{'> 1 s':>7}{'findings':>10}"
          f"{'blamed':>8}{'slowest s':>11}{'total s':>9}")  # fmt: skip
    for directory in options.directories or [installed_torch()]:
        result = tally(directory)
        print(f"{result.name:20}{result.files:>7}{result.with_walks:>7}{len(result.crashes):>9}"
              f"{len(result.slow):>7}{len(result.findings):>10}"
              f"{result.blamed / max(result.with_walks, 1):>8.1%}{result.slowest:>11.2f}"
              f"{result.total:>9.1f}", flush=True)  # fmt: skip
        if options.show:
            for name, found in result.findings:
                print(f"    {name}: {said(found)}")
            for crash in result.crashes:
                print(f"    {crash}")
            for seconds, name in result.slow:
                print(f"    {seconds:.1f} s {name}")
            print(f"    not followed: {dict(result.incomplete.most_common(8))}")


if __name__ == "__main__":
    main()
