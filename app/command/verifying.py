"""Verifications in the terminal: the same as the service's, with an embedded sandbox, or by a
service that runs already."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import Protocol

from rich.console import Console

from app.change import verify_change
from app.change_schemas import ChangeFindings, ChangeRequest
from app.command.options import Options
from app.command.outcomes import progress_on
from app.command.sandbox_and_reader import tools
from app.command.sides import Comparison
from app.command.verdicts import printed
from app.diagnose import Progress
from gradmend.installing import pip_install

SAME, DIFFERENT, NOT_COMPARABLE = 0, 1, 2
NO_TORCH = "Nothing can be run: PyTorch is not installed here. Install it with: "


async def verify_here(comparison: Comparison, allowed: tuple[str, ...]) -> int:
    """Compare two versions, print the verdict, and return the exit code. Raises `BadInput`."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    request = comparison.request()
    (found,) = await found_here([request], comparison.options)
    printed(comparison.options.form, request, found)
    return exit_code(found, allowed)


async def found_here(requests: list[ChangeRequest], options: Options) -> list[ChangeFindings]:
    """Return what each change does. Raises `BadInput` if a server that was named cannot be
    asked."""
    if not (options.server or options.torch) and find_spec("torch") is None:
        no_torch = f"{NO_TORCH}{pip_install('sandbox')}."
        return [ChangeFindings(verdict="not_comparable", summary=no_torch) for _ in requests]
    messages = Console(stderr=True, highlight=False)
    async with _verifying(options, messages) as ask:
        with progress_on(messages) as progress:
            return [await ask(one, progress=progress) for one in requests]


class Verifier(Protocol):
    """Verify one change."""

    async def __call__(self, request: ChangeRequest, *, progress: Progress) -> ChangeFindings: ...


@asynccontextmanager
async def _verifying(options: Options, messages: Console) -> AsyncIterator[Verifier]:
    """What verifies: the server that is named, or else a sandbox of this process."""
    if options.server:
        from app.command.remote import server_at

        async with server_at(options.server, messages) as server:
            yield server.verify
        return
    async with tools(options) as (sandbox, reader):
        yield partial(verify_change, sandbox=sandbox, reader=reader)


def exit_code(found: ChangeFindings, allowed: tuple[str, ...] = ()) -> int:
    """Return the exit code of a verdict; `allowed` ones count as the same."""
    if found.verdict == "same" or found.verdict in allowed:
        return SAME
    return NOT_COMPARABLE if found.verdict in (None, "not_comparable") else DIFFERENT
