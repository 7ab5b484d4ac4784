"""Making the backend that the launcher was asked for."""

from __future__ import annotations

from sandbox.launcher.options import Options
from sandbox.protocol import Sandbox


def make(options: Options) -> Sandbox:
    """The backend that `options` names. Importing one does not need the other's libraries."""
    if options.backend == "container":
        from sandbox.container.backend import Containers

        return Containers(
            image=options.image,
            runtime=options.runtime,
            ready=options.ready_containers,
            entry=options.entry,
            allow_missing=options.allow_missing,
        )
    from sandbox.jail.backend import Jail

    return Jail(
        allow_missing=options.allow_missing,
        runs_per_zygote=options.runs_per_parent,
        entry=options.entry,
    )
