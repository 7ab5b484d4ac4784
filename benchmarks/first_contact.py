"""How right the service is about scripts that nobody tuned it to.

    python -m benchmarks.first_contact BATCH [--no-run]
    python -m benchmarks.first_contact --again 642 [--no-run]

BATCH is one of the archive (`benchmarks.archive`), or a folder of cases in the format of
`tests/cases` (its README). They are asked before anything is changed for them, and judged as
`benchmarks.accuracy` judges.
Printed are rows for the table in `benchmarks/first_contact.md`, then what was missed. `--again`
takes a sample of all scripts of the archive instead: misses of many of them have been corrected
since, so it says whether anything was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def main() -> None:
    options = _parser().parse_args()
    # The reader's workers import this module again, and must not pay for torch.
    from benchmarks.accuracy_tables import complaints, first_contact
    from benchmarks.archive import again, cases
    from benchmarks.asking import READING, RUNNING, ask
    from benchmarks.scoring import score
    from benchmarks.trials import prepare

    found = again(options.again) if options.again else cases(options.batch)
    modes = [READING] if options.no_run else [RUNNING, READING]
    trials = [prepare(case, baselines=False) for case in found]
    answers = asyncio.run(ask([trial.request for trial in trials], modes))
    scores = {
        mode: [score(trial, found) for trial, found in zip(trials, answers[mode], strict=True)]
        for mode in modes
    }
    name = f"{len(found)} again" if options.again else Path(options.batch).name
    batch = [name, f"{datetime.now(UTC):%Y-%m-%d}", _commit()]
    print(*first_contact(batch, trials, scores), "", *complaints(trials, scores), sep="\n")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="first_contact", description=(__doc__ or "").split("\n")[0]
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("batch", nargs="?", help="of the archive, or a folder of cases")
    asked.add_argument("--again", type=int, metavar="N", help="N scripts of all measured batches")
    parser.add_argument("--no-run", action="store_true", help="read only, without the sandbox")
    return parser


if __name__ == "__main__":
    main()
