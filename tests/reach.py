"""Which live tests a change can reach: `python -m tests.reach [BASE]` prints their paths.

`make test` replays recordings. What changed since BASE (by default the commit before this one) is
followed by the tests that hold it live; where Git knows no such commit, everything counts as
changed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

from tests.recorded.digests import ROOT, TRACER

CORPUS = ("tests/corpus/test_accuracy.py", "tests/integration/test_strangers.py")
AREAS: dict[tuple[str, ...], tuple[str, ...]] = {
    TRACER: ("tests/corpus", "tests/integration"),
    ("sandbox/",): ("tests/abuse", "tests/integration/test_sandbox_*.py"),
    ("analyzers/", "app/run/", "app/repair/", "app/request/", "app/verify/"): (
        *CORPUS,
        "tests/integration/test_first_fix.py",
        "tests/integration/test_own_fixes.py",
        "tests/integration/test_verifications.py",
        "tests/unit/test_*growth.py",
    ),
    ("app/editing/",): ("tests/integration/test_language_server.py",),
    ("tests/corpus/__main__.py",): ("tests/unit/test_case_folders.py",),
    ("app/api/", "app/http/", "app/jobs/", "app/store/", "app/s"): (
        "tests/integration/test_service_*.py",
        "tests/integration/test_generated_clients.py",
    ),
    ("app/pages/", "app/static/", "app/templates/", "app/present/", "editor/"): ("tests/browser",),
    ("gradmend/", "app/command/", "sandbox/inside/attached/"): (
        "tests/integration/test_run_wrapper*.py",
        "tests/integration/test_*remotely.py",
        "tests/integration/test_guide.py",
        "tests/integration/test_in*.py",
        "tests/integration/test_notebook_extension.py",
        "tests/integration/test_run_against.py",
        "tests/integration/test_service_terminal.py",
        "tests/integration/test_verify_command.py",
        "tests/integration/test_w*.py",
    ),
    ("action.yml", "app/command/", "gradmend/same_training.py"): (
        "tests/integration/test_ac*.py",
        "tests/integration/test_as*.py",
    ),
    ("app/agents/",): ("tests/integration/test_agents*.py",),
    ("tests/probe.py", "benchmarks/plain.py"): ("tests/corpus/test_scripts.py",),
}
"""Beginnings of paths, and the tests that hold live what is there."""
NEAREST: dict[tuple[str, ...], tuple[str, ...]] = {
    ("sandbox/inside/stubs/",): ("tests/integration/test_stubs.py",),
    ("sandbox/inside/harness/",): ("tests/integration/test_harness_*.py",),
    ("sandbox/inside/detectors/", "sandbox/inside/recorders/"): (
        "tests/integration/test_judging_terms.py",
    ),
}
"""Parts of the tracer, and the tests that `make test`, too, runs live where that part has changed
and their recordings are of the tracer before."""
TRACED = ("core", "detectors", "errors", "recorders", "references")
"""Parts of the tracer that are held so by all tests of `tests/integration` that run a script under
the tracer alone."""


def changed(base: str) -> list[str] | None:
    """Return the files that differ from a commit; None where Git does not know it."""
    words = ["git", "diff", "--name-only", base]
    reported = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return reported.stdout.splitlines() if reported.returncode == 0 else None


def is_traced(files: Iterable[str]) -> bool:
    """Return True if one of the files belongs to a part that tests of the tracer alone hold."""
    return any(file.startswith(tuple(f"{TRACER[0]}/{part}/" for part in TRACED)) for file in files)


def reached(
    files: Iterable[str] | None, areas: dict[tuple[str, ...], tuple[str, ...]] = AREAS
) -> list[str]:
    """Return the tests that a change of these files can reach; of all files where it is None."""
    known = None if files is None else list(files)
    globs = {
        glob
        for places, tests in areas.items()
        for glob in tests
        if known is None or any(file.startswith(places) for file in known)
    }
    paths = {path.relative_to(ROOT).as_posix() for glob in globs for path in ROOT.glob(glob)}
    return sorted(path for path in paths if not any(path.startswith(f"{one}/") for one in paths))


if __name__ == "__main__":
    print(*reached(changed(sys.argv[1] if len(sys.argv) > 1 else "HEAD~1")))
