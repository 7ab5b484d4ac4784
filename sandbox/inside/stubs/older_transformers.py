"""What Transformers has dropped, and the names under which it was published before."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import torch

from .finding import Report, when_imported
from .sources import says

PROVIDES = ("pytorch_transformers", "pytorch_pretrained_bert")
KIND = "api"
SAYS = "An older name of Transformers: `transformers` was used."
_OPTIMIZERS = ("AdamW", "BertAdam")
_USED = r"(?:transformers|bert)(?:[\w.]*\s+import\s*(?:\([^)]*|[^\n(]*)|\.)\b{name}\b"


def install(report: Report) -> None:
    """Give scripts the optimizers that are torch's today."""

    def add(transformers: Any) -> None:
        for name in _OPTIMIZERS:
            if says(_USED.format(name=name)) and not hasattr(transformers, name):
                setattr(transformers, name, torch.optim.AdamW)
                text = f"`transformers.{name}` is gone: `torch.optim.AdamW` was used."
                report(f"transformers.{name}", text, "api")

    when_imported("transformers", add)


def module(name: str) -> ModuleType:
    """Return Transformers, or a part of it."""
    _, dot, part = name.partition(".")
    return importlib.import_module(f"transformers{dot}{part}")
