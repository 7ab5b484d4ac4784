"""What the launcher wants of a backend, and how one is made by name."""

from __future__ import annotations

from sandbox.jail.backend import Jail
from sandbox.launcher.options import Options
from sandbox.protocol import Sandbox


def make(options: Options) -> Sandbox:
    """The backend that `options` names."""
    return Jail(
        allow_missing=options.allow_missing,
        runs_per_zygote=options.runs_per_parent,
        entry=options.entry,
    )
