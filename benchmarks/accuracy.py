"""How often the service is right, over every case in `tests/cases`.

    python -m benchmarks.accuracy [--only recurrent] [--no-run] [--limit 20] [--every 10] [--json X]

Each case goes through the service's own entry, with the traceback that it really printed, once
with the sandbox and once by reading alone. Only the first cause and the first patch count; the
patch is judged outside the service, by `tests/probe.py`. Next to them stand two baselines:
`retain_graph=True` on every backward, and the line that anomaly mode points to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path


def main() -> None:
    options = _parser().parse_args()
    # The reader's workers import this module again, and must not pay for torch.
    from benchmarks.accuracy_tables import complaints, summary
    from benchmarks.asking import READING, RUNNING, ask
    from benchmarks.scoring import score
    from benchmarks.trials import prepare
    from tests.case_files import load_cases

    cases = [case for case in load_cases() if options.only in case.name][: options.limit]
    cases = cases[:: options.every]
    modes = [READING] if options.no_run else [RUNNING, READING]
    # Plain runs are forks: they come before the service starts threads, or after it has ended.
    trials = [prepare(case) for case in cases]
    answers = asyncio.run(ask([trial.request for trial in trials], modes))
    scores = {
        mode: [score(trial, found) for trial, found in zip(trials, answers[mode], strict=True)]
        for mode in modes
    }
    print(summary(trials, scores), "", *complaints(trials, scores), sep="\n")
    if options.json:
        report = {
            trial.case.name: {mode: asdict(results[number]) for mode, results in scores.items()}
            for number, trial in enumerate(trials)
        }
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="accuracy", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--no-run", action="store_true", help="read only, without the sandbox")
    parser.add_argument("--limit", type=int, help="at most so many cases")
    parser.add_argument("--every", type=int, default=1, help="only each N-th case: a sample")
    parser.add_argument("--json", type=Path, help="write every score to this file")
    return parser


if __name__ == "__main__":
    main()
