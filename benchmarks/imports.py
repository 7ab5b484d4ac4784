"""What imports cost a diagnosis: `python -m benchmarks.imports [--rounds 11]`.

Starts one service and asks it about the README's example, as it is and with one more import above,
in turns. No request equals another, so none gets an earlier answer. First, each is asked once,
until the processes from which its runs are forked have imported its packages. Shown are the median
and the 90th percentile of the seconds that an answer takes, and their ratios to the plain script's.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.memory import processor_s
from tests.processes import Server, eventually
from tests.readme import README, example

PLAIN = "no import more"
IMPORTS = {
    PLAIN: "",
    "pandas": "import pandas as pd",
    "scikit-learn": "from sklearn.model_selection import train_test_split",
    "transformers": "from transformers import AutoModel, AutoTokenizer",
}


def rows(seconds: dict[str, list[float]]) -> Iterable[str]:
    """Lines of the table: medians, 90th percentiles, and the ratios of both to the plain script."""
    figures = {
        name: (statistics.median(taken), statistics.quantiles(taken, n=10, method="inclusive")[-1])
        for name, taken in seconds.items()
    }
    for name, (median, p90) in figures.items():
        ratios = [one / plain for one, plain in zip((median, p90), figures[PLAIN], strict=True)]
        yield f"{name:<16}{median:>10.2f}{p90:>10.2f}{ratios[0]:>10.2f}{ratios[1]:>10.2f}"


def measured(server: Server, rounds: int) -> dict[str, list[float]]:
    """Seconds that each answer took, by the import."""
    seconds: dict[str, list[float]] = {name: [] for name in IMPORTS}
    script = example(README.read_text())["script"]
    for turn in range(rounds + 1):
        for name, line in IMPORTS.items():
            began = time.perf_counter()
            answer = server.ask(f"{line}\n{script}# {name}, {turn}\n")
            seconds[name].append(time.perf_counter() - began)
            assert answer["verdict"] == "confirmed", f"{name}: {answer['verdict']}"
        if turn == 0:
            eventually(lambda: _rests(server))
    return {name: taken[1:] for name, taken in seconds.items()}


def _rests(server: Server) -> bool:
    """Whether the service has nothing more to import."""
    before = processor_s(server.pid)
    time.sleep(1)
    return processor_s(server.pid) - before < 0.1


def main() -> None:
    """Start the service, measure, print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), log_level="warning", reuse_results="false")
        try:
            eventually(lambda: server.http.get("/readyz").status_code == 200)
            seconds = measured(server, rounds)
        finally:
            server.end()
    heads = ("median s", "p90 s", "ratio", "p90 ratio")
    print(f"{'import':<16}{''.join(f'{head:>10}' for head in heads)}")
    print("\n".join(rows(seconds)))


if __name__ == "__main__":
    main()
