"""The tool that runs a command where the agent works: on the user's machine, never in a service."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from mcp.server.mcpserver import Context

from app.command.options import BadInput
from app.schemas import Findings

MOST_BYTES = 32 << 20  # of the command's output, from its end: the findings are its last line
REPORT_EVERY_S = 5.0
GRACE_S = 10.0


async def findings_of_run(
    command: Sequence[str], folder: Path, options: Sequence[str], limit_s: float, context: Context
) -> Findings:
    """Return what `gradmend run` finds about a command.

    There is no verdict if it failed for another reason, or not at all. Raise `BadInput` if there is
    nothing to report.
    """
    words = [sys.executable, "-P", "-m", "gradmend", "run", "--json", *options, "--", *command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(limit_s):
                await _ended(process, context)
        except TimeoutError:
            why = f"The command was ended after {limit_s:g} s; a larger `limit_s` waits longer."
            raise BadInput(why) from None
        finally:
            await _end(process)
        return _findings(_tail(out), _tail(err), process.returncode or 0)


def folder_of(command: Sequence[str], named: str) -> Path:
    """Return the folder to run the command in. Raise `BadInput` if it is unusable."""
    if not command:
        raise BadInput('Which command? For example: ["python", "train.py", "--lr", "1e-3"].')
    folder = Path(named).resolve()
    if not folder.is_dir():
        raise BadInput(f"{named}: no such folder.")
    return folder


async def _ended(process: asyncio.subprocess.Process, context: Context) -> None:
    """Wait until the command and its diagnosis are over, reporting progress to the host."""
    ending = asyncio.ensure_future(process.wait())
    seconds = 0.0
    try:
        while not ending.done():
            await asyncio.wait([ending], timeout=REPORT_EVERY_S)
            seconds += REPORT_EVERY_S
            await context.report_progress(seconds, None, "The command runs")
    finally:
        ending.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what still runs: politely, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE_S)


def _tail(file: BinaryIO) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MOST_BYTES))
    return file.read().decode("utf-8", "replace")


def _findings(out: str, err: str, code: int) -> Findings:
    """Return the findings in the last line; a command that ended well has few."""
    last = out.rstrip("\n").rpartition("\n")[2]
    try:
        found = Findings.model_validate(json.loads(last))
    except ValueError:
        note = err.rstrip("\n").rpartition("gradmend: ")[2] or f"it ended with exit code {code}"
        raise BadInput(f"Nothing was found out: {note}") from None
    if found.verdict is None and not found.summary:
        found.summary = f"No error of autograd was raised; the command's exit code is {code}."
    return found
