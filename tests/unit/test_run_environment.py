"""Which versions an answer names of a run."""

from __future__ import annotations

from app.present.run_environment import environment_of
from sandbox.records import Trace

TRACE = {
    "started": {
        "t": "start",
        "v": 1,
        "torch": "2.13.0",
        "python": "3.11.7",
        "platform": "Linux x86_64",
    },
    "ended": {
        "t": "end",
        "reason": "finished",
        "packages": {"argparse": "1.1", "numpy": "2.3", "scipy": "1.16"},
    },
}


def test_only_installed_packages_that_the_script_imports_have_versions() -> None:
    files = {"train.py": "import argparse\nimport numpy as np\n"}
    ran = environment_of(files, Trace.model_validate(TRACE))
    assert ran.packages == {"numpy": "2.3"}
