"""Lightning: its trainer stays on the CPU, and logs to nothing where a logger is missing."""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any

from .finding import Report, when_imported

_PRECISE = ("None", "32", "64")
_FOLDERS = ("save_dir", "root_dir", "log_dir")
_OF_ACCELERATORS = frozenset({"strategy", "precision", "sync_batchnorm", "num_nodes"})


def install(report: Report) -> None:
    """Adapt the real trainer, if it is installed.

    It trains on the CPU, whatever it is asked for, without arguments that it no longer knows, and
    logs nothing if the logger's package is not installed.
    """

    def on_the_cpu(module: Any) -> None:
        trainer, original = module.Trainer, module.Trainer.__init__
        known = frozenset(signature(original).parameters)

        @wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs.get("accelerator", "auto") not in ("auto", "cpu"):
                report("cuda", "the trainer stays on the CPU")
                kwargs |= {"accelerator": "cpu", "devices": 1}
                kwargs = {k: v for k, v in kwargs.items() if k not in _OF_ACCELERATORS}
            if not str(kwargs.get("precision")).startswith(_PRECISE):
                report("cuda", "numbers stay as precise as the CPU has them")
                del kwargs["precision"]
            for name in sorted(kwargs.keys() - known):
                report("lightning", f"the trainer here has no argument `{name}`: it was left out")
                del kwargs[name]
            original(self, *args, **kwargs)

        trainer.__init__ = init

    for package in ("lightning.pytorch", "pytorch_lightning"):
        when_imported(f"{package}.trainer.trainer", on_the_cpu)
        when_imported(f"{package}.loggers", _log_to_nothing)


def _log_to_nothing(module: Any) -> None:
    base = getattr(module, "Logger", None)
    if base is None:  # it is being imported by what it imports
        return
    silent = import_module(base.__module__).DummyLogger

    for name, kind in vars(module).items():
        if name.endswith("Logger") and isinstance(kind, type) and kind is not base:
            _wait_for_its_package(kind, silent, base)


def _wait_for_its_package(kind: Any, silent: Any, base: Any) -> None:
    """Make a logger log nothing, as the same class, if the package it needs is missing."""
    original = kind.__init__
    kinds = (*reversed(base.__mro__[:-1]), silent)
    parts = {k: v for one in kinds for k, v in vars(one).items() if k[:2] != "__"}
    parts |= dict.fromkeys(_FOLDERS)  # it writes none

    @wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **kwargs)
        except ModuleNotFoundError:
            self.__class__ = type(kind.__name__, (silent, type(self)), parts)
            vars(self).update(vars(silent()))

    kind.__init__ = init
