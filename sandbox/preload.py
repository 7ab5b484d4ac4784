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
from collections.abc import Iterable

from sandbox.protocol import Job

_DATA = ("pandas", "scipy", "sklearn", "matplotlib.pyplot", "seaborn")
_TEXT = ("transformers", "peft", "accelerate")
_OTHERS = (
    *("gymnasium", "torchmetrics", "lightning", "pytorch_lightning", "torch_geometric", "dgl"),
    *("omegaconf", "hydra", "typer"),
)
# What these import only where it is used, and what is imported next to them.
_DATA_PARTS = (
    *(f"sklearn.{name}" for name in ("cluster", "datasets", "decomposition", "ensemble")),
    *(f"sklearn.{name}" for name in ("feature_extraction.text", "linear_model", "manifold")),
    *(f"sklearn.{name}" for name in ("metrics", "model_selection", "neighbors", "pipeline")),
    *("sklearn.preprocessing", "sklearn.svm", "scipy.io", "scipy.signal", "scipy.stats"),
    *("matplotlib.animation", "matplotlib.backends.backend_agg", "tqdm.auto"),
)
_TEXT_PARTS = (
    *(f"transformers.{name}" for name in ("optimization", "trainer", "data.data_collator")),
    *(f"transformers.models.{name}.modeling_{name}" for name in ("bert", "distilbert", "gpt2")),
    *(f"transformers.models.{name}.modeling_{name}" for name in ("roberta", "t5", "vit")),
    *(f"transformers.models.{name}.tokenization_{name}" for name in ("bert", "gpt2")),
    *("tqdm.auto", "einops"),
)
_OTHER_PARTS = ("gymnasium.envs.classic_control", "gymnasium.wrappers", "click", "fire")
# The fewer a parent has imported, the cheaper is a fork of it: a run takes the first that suffices.
GROUPS = {
    "data": (*_DATA, *_DATA_PARTS),
    "text": (*_TEXT, *_TEXT_PARTS),
    "all": (*_DATA, *_TEXT, *_OTHERS, *_DATA_PARTS, *_TEXT_PARTS, *_OTHER_PARTS),
}


def _tops(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in names)


_TOPS = {
    "data": _tops(_DATA),
    "text": _tops(_TEXT),
    "all": _tops((*_DATA, *_TEXT, *_OTHERS, "gym")),
}
_HELD = {group: _tops(names) for group, names in GROUPS.items()}
_IMPORT = re.compile(
    rf"^[ \t]*(?:from|import)[ \t]+({'|'.join(sorted(_TOPS['all']))})\b", re.MULTILINE
)


def wanted(job: Job) -> str | None:
    """Return the group that has the packages which files of the job import, as far as their lines
    show, and none by the name of a file or folder of the job, which the script means instead; None
    if they import none, or there is no such group."""
    own = {part.removesuffix(".py") for name in job.files for part in name.split("/")}
    texts = (text for name, text in job.files.items() if name.endswith(".py"))
    needed = {package for text in texts for package in _IMPORT.findall(text)} - own
    fit = (group for group, tops in _TOPS.items() if needed <= tops and not own & _HELD[group])
    return next(fit, None) if needed else None


def load(group: str) -> None:
    """Import each package of a group that is installed, and drop what it prints.

    A package whose import fails is skipped: scripts that import it get the error.
    """
    for name in GROUPS[group]:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            unread = io.StringIO()
            with (
                contextlib.redirect_stdout(unread),
                contextlib.redirect_stderr(unread),
                warnings.catch_warnings(action="ignore"),
                contextlib.suppress(Exception),  # a package may raise anything here
            ):
                importlib.import_module(name)
