"""The two environments of a test: that of its tools, and that of the scripts which it runs.

`make test` puts the tools below the environment that `make serve` makes, and gives them its
packages. Scripts run with that of `make serve`, which has none of the tools.
"""

from __future__ import annotations

import sys
from pathlib import Path

PARTED = (
    Path(sys.prefix).name == "tests" and Path(sys.prefix).parent.joinpath("pyvenv.cfg").exists()
)
SCRIPTS_PYTHON = Path(sys.prefix).parent / "bin" / "python" if PARTED else Path(sys.executable)
"""The interpreter of scripts: that of `make serve`, or the tests' own where somebody runs them in
an environment of their own."""
