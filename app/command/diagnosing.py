"""Diagnoses in the terminal: the same as the service's, with an embedded sandbox, or by a service
that runs already.

What is wrong with the command line is said before anything is started; what diagnoses is imported
while the sandbox gets warm.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from app.command.choosing import scripts_of
from app.command.options import BadInput, Options, worst
from app.command.project import Target, module_file, target_of
from app.command.sandbox_and_reader import tools
from gradmend.installing import pip_install

if TYPE_CHECKING:
    from app.assistant import Assistant
    from app.command.outcomes import Diagnoser


async def diagnose_here(options: Options) -> int:
    """Diagnose every script, print what was found, write what was asked for; the exit code.

    Raises `BadInput`."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    paths = options.paths or ((module_file(options.module),) if options.module else ())
    messages = Console(stderr=True, highlight=False)
    options = _without_torch(options, messages)
    targets, refused = _targets(scripts_of(paths, options.exclude), options, messages)
    if not targets:
        return worst(refused, lenient=options.lenient)
    for name in sorted({name for target in targets for name in target.gathered.left_out}):
        messages.print(f"[yellow]left out:[/] {escape(name)} (no more fits into one request)")
    async with _diagnosing(options, targets, messages) as ask:
        from app.command.outcomes import diagnosed

        found = await diagnosed(targets, options, ask, messages, len(refused))
        return worst([found, *refused], lenient=options.lenient)


def _targets(
    paths: Iterable[Path], options: Options, messages: Console
) -> tuple[list[Target], list[int]]:
    """Return what can be diagnosed, and an exit code for each file that cannot; why is printed in
    a line."""
    targets: list[Target] = []
    codes: list[int] = []
    said: set[str] = set()
    for path in paths:
        try:
            targets.append(target_of(path, options))
        except BadInput as bad:
            codes.append(bad.code)
            if str(bad) not in said:  # an option's fault is the same for each file
                messages.print(escape(f"gradmend: {bad}"), soft_wrap=True)
            said.add(str(bad))
    return targets, codes


@asynccontextmanager
async def _diagnosing(
    options: Options, targets: Sequence[Target], messages: Console
) -> AsyncIterator[Diagnoser]:
    """What diagnoses: the server that is named, which is said, or else this process."""
    if options.server:
        from app.command.remote import server_at

        async with server_at(options.server, messages) as server:
            yield server.diagnose
        return
    runs = any(target.request.run == "auto" for target in targets)
    assistant = asked_too(messages) if runs else None
    async with tools(replace(options, run="auto" if runs else "never")) as (sandbox, reader):
        from app.diagnose import diagnose

        yield partial(diagnose, sandbox=sandbox, reader=reader, assistant=assistant)


def asked_too(messages: Console) -> Assistant | None:
    """The assistant that the environment names, which is said: it gets the script."""
    from app.assistant import assistant_of
    from app.settings import Settings

    found = assistant_of(Settings())
    if found is not None:
        messages.print(
            f"Where no fix of ours is safe, the script is sent to the assistant at "
            f"{escape(found.host)} (GRADMEND_ASSISTANT_URL).",
            soft_wrap=True,
        )
    return found


def _without_torch(options: Options, messages: Console) -> Options:
    """Where PyTorch is not installed, scripts can only be read: said once, with what to do."""
    elsewhere = options.server or options.torch
    if options.run == "never" or elsewhere or find_spec("torch") is not None:
        return options
    named = next((str(path) for path in options.paths if path.is_file()), "train.py")
    messages.print(
        "PyTorch is not installed here, so scripts are only read. Install it with: "
        f"{escape(pip_install('sandbox'))}; or run `gradmend run -- python {escape(named)}` where "
        "your PyTorch is.",
        soft_wrap=True,
    )
    return replace(options, run="never")
