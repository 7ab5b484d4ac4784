"""List packages that take long to import: runs that need one are forked from a parent that has
imported it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import re
import warnings

from sandbox.protocol import Job

PACKAGES = (
    *("pandas", "scipy", "sklearn", "matplotlib.pyplot", "seaborn", "gymnasium"),
    *("transformers", "peft", "accelerate", "torchmetrics", "lightning", "pytorch_lightning"),
    *("torch_geometric", "dgl"),
)
_TOPS = "|".join(sorted({"gym", *(name.partition(".")[0] for name in PACKAGES)}))
_IMPORT = re.compile(rf"^[ \t]*(?:from|import)[ \t]+(?:{_TOPS})\b", re.MULTILINE)


def wanted(job: Job) -> bool:
    """Return True if a file of the job imports one of the packages, as far as its lines show."""
    return any(_IMPORT.search(text) for name, text in job.files.items() if name.endswith(".py"))


def load() -> None:
    """Import each package that is installed, and drop what it prints.

    A package whose import fails is skipped: scripts that import it get the error.
    """
    for name in PACKAGES:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            unread = io.StringIO()
            with (
                contextlib.redirect_stdout(unread),
                contextlib.redirect_stderr(unread),
                warnings.catch_warnings(action="ignore"),
                contextlib.suppress(Exception),  # a package may raise anything here
            ):
                importlib.import_module(name)
