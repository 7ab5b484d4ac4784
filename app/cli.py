"""The command line: `gradmend serve`, `worker`, `sandbox` and `diagnose`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from traceback import print_exc
from typing import Annotated, Any, Literal, TypeVar

import typer

from app.settings import Settings

T = TypeVar("T")

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Diagnose autograd errors in PyTorch training scripts; settings: GRADMEND_… variables.",
)


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="port to listen on")] = None,
) -> None:
    """Serve the API and the pages."""
    from app.server import run_server

    given = {"host": host, "port": port}
    wanted = {name: value for name, value in given.items() if value is not None}
    run_server(Settings().model_copy(update=wanted))


@cli.command()
def worker() -> None:
    """Take diagnoses from the PostgreSQL queue (GRADMEND_JOBS=queue)."""
    from app.jobs.process import run_worker

    _run(run_worker(Settings()))


@cli.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def sandbox(context: typer.Context) -> None:
    """Run a sandbox launcher on a socket; takes the options of `python -m sandbox.launcher`."""
    command = [sys.executable, "-m", "sandbox.launcher", *context.args]
    os.execv(sys.executable, command)


@cli.command()
def diagnose(
    script: Annotated[Path, typer.Argument(help="the script or notebook; `-`: standard input")],
    args: Annotated[
        list[str] | None, typer.Argument(help="the script's own arguments, behind `--`")
    ] = None,
    traceback: Annotated[Path | None, typer.Option(help="a file with the traceback")] = None,
    file: Annotated[
        list[Path] | None, typer.Option(help="a further module or small data file; repeatable")
    ] = None,
    module: Annotated[
        str | None, typer.Option("--module", "-m", help="run the script as `python -m` this")
    ] = None,
    run: Annotated[Literal["auto", "never"], typer.Option(help="never: only read it")] = "auto",
    time_limit: Annotated[float, typer.Option(help="seconds that one run may take")] = 20,
    json: Annotated[bool, typer.Option("--json", help="print the findings as JSON")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="write the best patch that passed its checks")
    ] = False,
) -> None:
    """Diagnose a script here, without a server. Exit code: 0 healthy, 1 found, 2 could not tell."""
    from app.terminal import COULD_NOT_TELL, Options, diagnose_here

    options = Options(
        script,
        traceback,
        tuple(file or ()),
        tuple(args or ()),
        module,
        run,
        time_limit,
        json,
        apply,
    )
    try:
        code = _run(diagnose_here(options, Settings()))
    except Exception:  # a fault of our own must not look like a fault found: Python exits with 1
        print_exc()
        code = COULD_NOT_TELL
    raise typer.Exit(code)


def _run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end; SIGTERM and Ctrl-C cancel, so that everything started is ended."""

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await main

    try:
        return asyncio.run(cancellable())
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None


def main() -> None:
    """The console command."""
    cli()
