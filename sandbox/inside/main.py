"""Runs one job's script and records what its autograd did.

    python -m sandbox.inside.main JOB.json [--records PATH]

JOB.json holds the fields of `sandbox.protocol.Job`; with `files`, they are written into the
working directory first. Records go to PATH, or to descriptor 3.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from .core.frames import Json


def run_job(job: Json, emit_fd: int) -> int:
    """Run the job's entry as `__main__` in the working directory, which holds its files.

    Meant for a process of its own: it changes torch for good. Returns the exit code that Python
    would have; the caller leaves by `os._exit`.
    """
    from .script_run import run
    from .warm import settle

    settle()
    return run(job, emit_fd)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the script's exit code."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.inside.main", description=__doc__)
    parser.add_argument("job", type=Path)
    parser.add_argument("--records", type=Path)
    chosen = parser.parse_args(arguments)
    job: Json = json.loads(chosen.job.read_text())
    fd = 3
    if chosen.records:
        fd = os.open(chosen.records, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for name, text in job.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    return run_job(job, fd)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
