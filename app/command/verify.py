"""`gradmend verify`: does a change keep the training the same?"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from traceback import print_exc
from typing import Annotated, Any, Literal

import typer

from app.command.options import INTERNAL, USAGE, BadInput, Form, Options

Runs = Callable[[Coroutine[Any, Any, int]], int]


def add_verify(cli: typer.Typer, run: Runs) -> None:
    """Add the command to the command line; `run` runs it to its end."""

    @cli.command()
    def verify(
        context: typer.Context,
        before: Annotated[
            str,
            typer.Argument(
                metavar="BEFORE", help="the script before the change: a file, or REV:path in git"
            ),
        ],
        after: Annotated[
            str | None,
            typer.Argument(metavar="[AFTER]", help="the script after it: a file, or REV:path"),
        ] = None,
        patch: Annotated[
            Path | None, typer.Option(help="instead of AFTER: a unified diff against BEFORE")
        ] = None,
        git: Annotated[
            str | None,
            typer.Option(metavar="REV", help="compare the file in this revision with it as it is"),
        ] = None,
        module: Annotated[
            str | None, typer.Option("--module", "-m", help="run both as `python -m` this")
        ] = None,
        file: Annotated[
            list[Path] | None, typer.Option(help="a further file; imports are followed anyhow")
        ] = None,
        traceback: Annotated[
            Path | None, typer.Option(help="a file with the traceback of BEFORE")
        ] = None,
        steps: Annotated[
            int | None, typer.Option(min=1, help="optimizer steps to compare, at most")
        ] = None,
        time_limit: Annotated[float, typer.Option(help="seconds that one run may take")] = 20,
        allow: Annotated[
            Literal["truncated"] | None,
            typer.Option(help="exit with 0 also for this verdict"),
        ] = None,
        form: Annotated[Form, typer.Option("--format", "-f", help="output format")] = "text",
        json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
    ) -> None:
        """Run both versions in a sandbox and compare their training, step by step.

        `gradmend verify --git HEAD train.py -- --lr 1e-3`: behind `--` stand the script's own
        arguments. Exit code: 0 the same training; 1 changed, truncated or broken; 2 not
        comparable; 64 wrong usage.
        """
        # Looking for plugins of pydantic reads what every package of the environment says of it.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        if sum(given is not None for given in (after, patch, git)) != 1:
            raise typer.BadParameter("give the version after it, --patch FILE, or --git REV")
        options = Options(
            (),
            traceback,
            tuple(file or ()),
            tuple(context.obj or ()),
            module,
            time_limit_s=time_limit,
            form="json" if json else form,
        )
        asked = (before, after, patch, git, options, steps)
        raise typer.Exit(_ended(run, asked, (allow,) if allow else ()))


def _ended(run: Runs, asked: tuple[Any, ...], allowed: tuple[str, ...]) -> int:
    """The exit code; a fault of our own must not look like a verdict."""
    from app.command.sides import Comparison
    from app.command.verifying import verify_here

    try:
        return run(verify_here(Comparison(*asked), allowed))
    except BadInput as bad:
        typer.secho(f"gradmend: {bad}", err=True)
        return USAGE
    except Exception:  # of any kind: what a script can bring about is part of the verdict
        print_exc()
        return INTERNAL
