"""Verifications in the terminal: the same as the service's, with an embedded sandbox."""

from __future__ import annotations

import logging
from importlib.util import find_spec

from rich.console import Console

from app.change import verify_change
from app.change_schemas import ChangeFindings, ChangeRequest
from app.command.diagnosing import progress_on, tools
from app.command.options import Options
from app.command.sides import Comparison
from app.command.verdicts import printed
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
    """Return what each change does, found out in a sandbox of this process."""
    if find_spec("torch") is None:
        no_torch = f"{NO_TORCH}{pip_install('sandbox')}."
        return [ChangeFindings(verdict="not_comparable", summary=no_torch) for _ in requests]
    async with tools(options) as (sandbox, reader):
        with progress_on(Console(stderr=True, highlight=False)) as progress:
            return [
                await verify_change(one, sandbox=sandbox, reader=reader, progress=progress)
                for one in requests
            ]


def exit_code(found: ChangeFindings, allowed: tuple[str, ...] = ()) -> int:
    """Return the exit code of a verdict; `allowed` ones count as the same."""
    if found.verdict == "same" or found.verdict in allowed:
        return SAME
    return NOT_COMPARABLE if found.verdict in (None, "not_comparable") else DIFFERENT
