"""The command line of an installation: every command but those of `gradmend run`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import print_exc
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.command.arguments import AsJson, FurtherFiles, OutputFormat, Server, TimeLimit, Torch
from app.command.interrupts import Interruptible, run
from app.command.options import INTERNAL, USAGE, BadInput, Options, Run
from app.command.pull_request import add_pull_request
from app.command.verify import add_verify
from gradmend.command import BROKEN_PIPE

if TYPE_CHECKING:
    from app.command.config import ProjectConfig

UsageError: Any = typer.BadParameter.__base__
UsageError.exit_code = USAGE  # its own is 2, which here says that a diagnosis could not tell


cli = typer.Typer(
    cls=Interruptible,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Diagnose autograd errors in PyTorch training scripts; settings: GRADMEND_… variables. "
    "`gradmend train.py` is `gradmend diagnose train.py`; `gradmend .` diagnoses every training "
    "script in this folder. With your own data and packages: `gradmend run -- python train.py`.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from app.version import installed, package_version

        python, torch = platform.python_version(), installed("torch") or "not installed"
        typer.echo(f"gradmend {package_version()} (torch {torch}, Python {python})")
        raise typer.Exit


@cli.callback()
def gradmend(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """What all commands share."""


_Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="scripts, notebooks, folders; `-`: standard input", show_default=False),
]
_Traceback = Annotated[Path | None, typer.Option(help="a file with the traceback")]
_Module = Annotated[
    str | None, typer.Option("--module", "-m", help="run the script as `python -m` this")
]
_RunMode = Annotated[
    Run | None, typer.Option(help="auto: run the script in the sandbox; never: only read it")
]
_Fix = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="or --fix=N",
        show_default=False,
        help="write the best safe fix, or fix number N",
    ),
]
_Apply = Annotated[bool, typer.Option("--apply", help="the same as --fix")]
_Unsafe = Annotated[
    bool | None,
    typer.Option(
        "--unsafe-fixes/--no-unsafe-fixes",
        show_default=False,
        help="also write a fix that changes the training; by its number, one that was not tested",
    ),
]
_Diff = Annotated[bool, typer.Option("--diff", help="only show what --fix would change")]
_Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="causes, fixes and checks in full")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print no summary line")]
_StdinFilename = Annotated[
    str, typer.Option(metavar="NAME", help="the name of the script on standard input")
]
_Lenient = Annotated[bool, typer.Option("--lenient", help="exit code 0 instead of 2")]


@cli.command()
def diagnose(
    context: typer.Context,
    paths: _Paths = None,
    traceback: _Traceback = None,
    file: FurtherFiles = None,
    module: _Module = None,
    run: _RunMode = None,
    time_limit: TimeLimit = None,
    server: Server = None,
    torch: Torch = None,
    form: OutputFormat = "text",
    json: AsJson = False,
    fix: _Fix = None,
    best: _Apply = False,
    unsafe: _Unsafe = None,
    diff: _Diff = False,
    verbose: _Verbose = False,
    quiet: _Quiet = False,
    lenient: _Lenient = False,
    stdin_filename: _StdinFilename = "-",
) -> None:
    """Diagnose scripts. After `--`: the script's own arguments.

    Prints a line for each fault (for a single script on a terminal: the cause and the fix), nothing
    for clean files, and a summary. Exit code: 0 no fault found, or fixed; 1 a fault; 2 no answer;
    64 wrong usage.
    """
    # Looking for plugins of pydantic reads what every package of the environment says of itself.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if not paths and not module:
        raise typer.BadParameter("name a script, a folder, or `-` for standard input")
    raise typer.Exit(
        _ended(
            lambda config: Options(
                tuple(paths or ()),
                traceback,
                tuple(file or ()),
                tuple(context.obj or ()),
                module,
                run or config.run,
                time_limit or config.time_limit_s,
                "json" if json else form,
                fix or int(best),
                chosen=fix is not None,
                unsafe=config.unsafe_fixes if unsafe is None else unsafe,
                diff=diff,
                lenient=lenient,
                verbose=verbose,
                quiet=quiet,
                ignore=config.ignore,
                exclude=config.exclude,
                stdin_filename=stdin_filename,
                server=config.server if server is None else server,
                torch=config.torch if torch is None else torch,
            )
        )
    )


def _ended(options: Callable[[ProjectConfig], Options]) -> int:
    """Return the exit code of a diagnosis.

    A fault of Gradmend must not look like one it found (Python exits with 1).
    """
    from app.command.config import config_of
    from app.command.diagnosing import diagnose_here

    try:
        return run(diagnose_here(options(config_of(Path.cwd()))))
    except BadInput as bad:
        typer.secho(f"gradmend: {bad}", err=True)
        return bad.code
    except BrokenPipeError:
        raise SystemExit(BROKEN_PIPE) from None
    except Exception:  # of any kind: what a script can bring about is among the findings
        print_exc()
        return INTERNAL


@cli.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="address to listen on; else GRADMEND_HOST, else 127.0.0.1")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="port; else GRADMEND_PORT, else 8000")
    ] = None,
) -> None:
    """Serve the API and the pages."""
    from app.server import run_server
    from app.settings import Settings

    given = {"host": host, "port": port}
    wanted = {name: value for name, value in given.items() if value is not None}
    run_server(Settings().model_copy(update=wanted))


def _add_local(word: str, help_text: str) -> None:
    """List a word that another module does, and hand it over as it was typed."""

    def hand_over(context: typer.Context) -> None:
        from gradmend.command import main

        main([word, *context.args])

    cli.command(
        word,
        help=help_text,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        add_help_option=False,
        rich_help_panel="With your own data",
    )(hand_over)


_add_local("run", "Run your own command, and explain and fix the error that it ends with.")
_add_local(
    "apply", "Write the fix, or fix N, of the last `gradmend run` here (else: gradmend FILE --fix)."
)
_add_local(
    "show", "Show the fix, or fix N, of the last `gradmend run` here (else: gradmend FILE --diff)."
)
_add_local("explain", "Explain a kind of fault: gradmend explain recurrent-state.")


add_verify(cli, lambda main: run(main))
add_pull_request(cli, lambda main: run(main))


@cli.command()
def mcp() -> None:
    """Serve local agents with the Model Context Protocol, over standard input and output."""
    from app.agents.local import serve as answer

    answer()


@cli.command()
def lsp() -> None:
    """Serve an editor with the Language Server Protocol, over standard input and output."""
    from app.editing.language_server import serve as answer

    answer()


@cli.command()
def worker() -> None:
    """Take diagnoses from the PostgreSQL queue (GRADMEND_JOBS=queue)."""
    from app.jobs.process import run_worker
    from app.settings import Settings

    run(run_worker(Settings()))


@cli.command()
def reports() -> None:
    """List the results that users reported as wrong, with their reports."""
    from app.command.complaints import print_reports
    from app.settings import Settings

    run(print_reports(Settings()))


@cli.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def sandbox(context: typer.Context) -> None:
    """Run a sandbox launcher on a socket; takes the options of `python -m sandbox.launcher`."""
    from gradmend import parts

    command = [sys.executable, "-P", "-m", "sandbox.launcher", *context.args]
    os.execve(sys.executable, command, parts.environment())


def _words(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the command's own arguments, and the script's, which follow `--`.

    A first argument that is no command is a path to diagnose; `--fix` without a number is the first
    fix that may be written.
    """
    at = arguments.index("--") if "--" in arguments else len(arguments)
    own, theirs = arguments[:at], arguments[at + 1 :]
    first = next(iter(own), "")
    if first and first not in (*_commands(), "-h", "--help", "--version"):
        own = ["diagnose", *own]
    if own[:1] in (["diagnose"], ["verify"]):
        own = ["--apply" if word == "--fix" else word for word in own]
        return own, theirs
    return arguments, []


def _commands() -> set[str]:
    return set(typer.main.get_group(cli).commands)


def main(arguments: list[str] | None = None) -> None:
    """Run the console command."""
    own, theirs = _words(sys.argv[1:] if arguments is None else arguments)
    cli(own, obj=theirs)
