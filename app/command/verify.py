"""`gradmend verify`: does a change keep the training the same?"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from traceback import print_exc
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.command.arguments import (
    AsJson,
    FurtherFiles,
    OutputFormat,
    Runs,
    Server,
    TimeLimit,
    Torch,
)
from app.command.options import INTERNAL, BadInput, Options

if TYPE_CHECKING:
    from app.command.config import ProjectConfig
    from app.command.sides import Comparison


_Before = Annotated[
    str,
    typer.Argument(
        metavar="BEFORE", help="the script before the change: a file, or REV:path in git"
    ),
]
_After = Annotated[
    str | None, typer.Argument(metavar="[AFTER]", help="the script after it: a file, or REV:path")
]
_Patch = Annotated[
    Path | None, typer.Option(help="instead of AFTER: a unified diff against BEFORE")
]
_Revision = Annotated[
    str | None,
    typer.Option(metavar="REV", help="compare the file in this revision with the current file"),
]
_Module = Annotated[str | None, typer.Option("--module", "-m", help="run both as `python -m` this")]
_Traceback = Annotated[Path | None, typer.Option(help="a file with the traceback of BEFORE")]
_Steps = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="stop both versions after this many optimizer steps (default: as many as a "
        "quarter of --time-limit allows); of more than 64, a sample is compared",
    ),
]
_Allow = Annotated[
    Literal["truncated"] | None, typer.Option(help="also exit with 0 for this verdict")
]


def add_verify(cli: typer.Typer, run: Runs) -> None:
    """Add the command to the command line; `run` runs it to its end."""

    @cli.command()
    def verify(
        context: typer.Context,
        before: _Before,
        after: _After = None,
        patch: _Patch = None,
        git: _Revision = None,
        module: _Module = None,
        file: FurtherFiles = None,
        traceback: _Traceback = None,
        steps: _Steps = None,
        time_limit: TimeLimit = None,
        server: Server = None,
        torch: Torch = None,
        allow: _Allow = None,
        form: OutputFormat = "text",
        json: AsJson = False,
    ) -> None:
        """Run both versions in a sandbox and compare their training, step by step.

        `gradmend verify --git HEAD train.py -- --lr 1e-3` passes the arguments after `--` to the
        script. Exit code: 0 the same training; 1 changed, truncated or broken; 2 not
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
            form="json" if json else form,
        )

        def comparison(config: ProjectConfig) -> Comparison:
            from app.command.sides import Comparison

            asked = replace(
                options,
                server=config.server if server is None else server,
                torch=config.torch if torch is None else torch,
                time_limit_s=time_limit or config.time_limit_s,
            )
            return Comparison(before, after, patch, git, asked, steps)

        raise typer.Exit(_ended(run, comparison, (allow,) if allow else ()))


def _ended(
    run: Runs, comparison: Callable[[ProjectConfig], Comparison], allowed: tuple[str, ...]
) -> int:
    """The exit code; a fault of our own must not look like a verdict."""
    from app.command.config import config_of
    from app.command.verifying import verify_here

    try:
        return run(verify_here(comparison(config_of(Path.cwd())), allowed))
    except BadInput as bad:
        typer.secho(f"gradmend: {bad}", err=True)
        return bad.code
    except Exception:  # of any kind: what a script can bring about is part of the verdict
        print_exc()
        return INTERNAL
