"""Scripts of tests find the packages that they find under `make serve`, and none of the tests'."""

from __future__ import annotations

import asyncio
import json
import subprocess
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sandbox.protocol import Job
from tests.environment import SCRIPTS_PYTHON
from tests.recorded.box import RecordedSandbox

pytestmark = [pytest.mark.asyncio(loop_scope="session")]

SEEN = """\
import json
from importlib.metadata import distributions
names = {one.name.lower().replace("_", "-").replace(".", "-") for one in distributions()}
print(json.dumps(sorted(names)))
"""


async def test_a_script_sees_the_environment_of_make_serve(sandbox: RecordedSandbox) -> None:
    """Not what the interpreter sees next to it, and nothing that no extra of it asks for."""
    result = await sandbox.real.run(Job(files={"train.py": SEEN}))
    assert result.status == "finished", result
    seen = set(json.loads(result.stdout_tail))
    alone = await asyncio.to_thread(_printed_by, str(SCRIPTS_PYTHON), "-c", SEEN)
    assert seen == set(json.loads(alone))
    served = _needed("server", "sandbox", "packages")
    assert seen - {"pip", "setuptools"} <= served
    assert {"torch", "pandas", "transformers"} <= seen
    assert not {"pytest", "ipython", "playwright"} & seen


def _printed_by(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _needed(*extras: str) -> set[str]:
    """Return the distributions that these extras ask for, directly or not."""
    waiting = [("gradmend", extra) for extra in ("", *extras)]
    found: set[tuple[str, str]] = set()
    while waiting:
        name, extra = one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        try:
            listed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # for another platform
            continue
        for each in listed:
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(each.name), more) for more in ("", *each.extras)]
    return {name for name, _ in found}
