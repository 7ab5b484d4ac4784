"""What a script ran with: versions, as the run itself reported them."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping

from app.request.case import Case
from app.run.observation import Observation
from app.schemas import Environment
from sandbox.records import Trace

_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)


def environment(case: Case, seen: Observation) -> Environment:
    """Return the versions of the run; where nothing ran, of the Python that read the script."""
    return environment_of(case.project.files, seen.trace)


def environment_of(files: Mapping[str, str], trace: Trace | None) -> Environment:
    """Return the environment of a run, from its trace (if any) and the sources."""
    started = trace.started if trace is not None else None
    if trace is None or started is None:
        system = os.uname()
        return Environment(
            python=platform.python_version(), platform=f"{system.sysname} {system.machine}"
        )
    imported = {name for text in files.values() for name in _IMPORTED.findall(text)}
    replaced = {stub.name for stub in trace.stubs}
    versions = trace.ended.packages if trace.ended is not None else {}
    return Environment(
        torch=started.torch,
        python=started.python,
        platform=started.platform,
        packages={
            name: version
            for name, version in sorted(versions.items())
            if name in imported - replaced - sys.stdlib_module_names  # argparse has a version, too
        },
    )
