"""Create the backend that the launcher's options name."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sandbox.launcher.cli_options import LauncherOptions
from sandbox.protocol import Sandbox, Session


class Prepared(Session, Protocol):
    """A session as the launcher drives it."""

    async def prepare(self) -> None:
        """Prepare what the next run needs, so that it need not wait. Never raises."""


class Backend(Sandbox, Protocol):
    """A sandbox as the launcher drives it.

    `abreast`: how many runs of one session go side by side; None: as many as there are slots.
    """

    @property
    def abreast(self) -> int | None: ...

    def session(self) -> AbstractAsyncContextManager[Prepared]: ...


def make(options: LauncherOptions) -> Backend:
    """Return the backend that `options` names, within a running event loop. Importing one does not
    need the other's libraries.
    """
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

    jail = Jail(
        allow_missing=options.allow_missing,
        runs_per_zygote=options.runs_per_parent,
        entry=options.entry,
    )
    if options.warm:
        jail.warm()
    return jail
