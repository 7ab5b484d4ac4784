"""Measure a pre-commit hook, `gradmend diagnose --run never`, against a start of Python.

    python -m benchmarks.hook [--rounds 7]

The figures are the least processor time and clock time of the rounds, taken in turns, and the
ratio: a machine that is slower, or crowded, is so for both. The modules are compiled before, as an
installer does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "app" / "examples" / "1_lstm.py"
GRADMEND = str(Path(sys.executable).with_name("gradmend"))
COMMANDS = {
    'python -c "import ast"': [sys.executable, "-c", "import ast"],
    "gradmend diagnose --run never": [GRADMEND, "diagnose", "--run", "never", str(SCRIPT)],
}


@dataclass(frozen=True)
class Spent:
    """Seconds of the processor, of children too, and by the clock."""

    work: float
    clock: float


def spent(command: list[str]) -> Spent:
    """One run of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    usage = os.wait4(process.pid, 0)[2]
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    for command in COMMANDS.values():
        spent(command)
    rounds = [
        {name: spent(command) for name, command in COMMANDS.items()}
        for _ in range(parser.parse_args().rounds)
    ]
    least = {
        name: Spent(min(r[name].work for r in rounds), min(r[name].clock for r in rounds))
        for name in COMMANDS
    }
    print(f"{'':34}{'processor':>10}{'clock':>8}")
    for name, one in least.items():
        print(f"{name:34}{one.work:>9.2f}s{one.clock:>7.2f}s")
    plain, ours = least.values()
    print(f"{'times as much':34}{ours.work / plain.work:>10.0f}{ours.clock / plain.clock:>8.0f}")


if __name__ == "__main__":
    main()
