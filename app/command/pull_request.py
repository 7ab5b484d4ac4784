"""`gradmend pull-request`: what a pull request does to the training, as one comment on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from traceback import print_exc
from typing import TYPE_CHECKING, Annotated

import typer

from app.command.arguments import Runs, TimeLimit
from app.command.options import INTERNAL, BadInput, Options

if TYPE_CHECKING:
    from app.command.github import PullRequest
    from app.present.pull_request import Reviewed

MARKER = "<!-- gradmend: training -->"
MOST = 10  # scripts that are run


def add_pull_request(cli: typer.Typer, run: Runs) -> None:
    """Add the command to the command line; `run` runs it to its end."""

    @cli.command("pull-request")
    def pull_request(
        paths: Annotated[
            list[Path] | None, typer.Argument(help="scripts and folders (default: all here)")
        ] = None,
        steps: Annotated[
            int | None, typer.Option(min=1, help="optimizer steps to compare, at most")
        ] = None,
        time_limit: TimeLimit = None,
        require: Annotated[
            bool, typer.Option("--require-same", help="exit code 1 if a training changes")
        ] = False,
    ) -> None:
        """In a GitHub workflow on a pull request, verify the training scripts that it changes, and
        report the effect on each in one comment; a later run updates the comment.

        Reads GITHUB_EVENT_PATH, GITHUB_REPOSITORY and GITHUB_TOKEN (with pull-requests: write).
        """
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from app.command.config import config_of

        try:
            limit = time_limit or config_of(Path.cwd()).time_limit_s
            options = Options(tuple(paths or (Path("."),)), time_limit_s=limit)
            code = run(_reviewed(options, steps, require, os.environ))
        except BadInput as bad:
            typer.secho(f"gradmend: {bad}", err=True)
            code = bad.code
        except Exception:  # a fault of our own must not look like a verdict
            print_exc()
            code = INTERNAL
        raise typer.Exit(code)


async def _reviewed(
    options: Options, steps: int | None, require: bool, environment: Mapping[str, str]
) -> int:
    from app.command.entries import entries_in
    from app.command.github import PullRequest
    from app.command.revisions import Repository
    from app.present.pull_request import comment_of

    here = Path.cwd()
    asked = PullRequest.of(environment)
    repository = Repository.of(here)
    base = repository.merge_base(repository.fetched(asked.base), "HEAD")
    changed = {repository.top / name for name in repository.changed(base, "HEAD")}
    touched = [one for one in entries_in(options.paths, here) if changed & {one.path, *one.needs}]
    scripts = [one.path.relative_to(here).as_posix() for one in touched]
    reviewed = await _verified(scripts[:MOST], base, options, steps)
    _publish(comment_of(reviewed, scripts[MOST:], base), asked, environment, bool(reviewed))
    verdicts = {one.found.verdict for one in reviewed if one.found is not None}
    return int(require and bool(verdicts & {"changed", "breaks", "truncated"}))


async def _verified(
    scripts: list[str], base: str, options: Options, steps: int | None
) -> list[Reviewed]:
    """What the change does to each script; new ones have nothing to be compared with."""
    from app.command.sides import Comparison, NoSuchFile
    from app.command.verifying import found_here
    from app.present.pull_request import Reviewed

    requests = {}
    for script in scripts:
        with suppress(NoSuchFile):
            requests[script] = Comparison(script, None, None, base, options, steps).request()
    found = dict(zip(requests, await found_here([*requests.values()], options), strict=True))
    return [Reviewed(script, found.get(script)) for script in scripts]


def _publish(
    comment: str, asked: PullRequest, environment: Mapping[str, str], always: bool
) -> None:
    """Print the comment, add it to the job's summary, and put it on the pull request. A token that
    may not write (a fork's) is no fault of the change: that is a warning."""
    from app.command.github import Comments, client

    print(comment)
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{comment}\n")
    try:
        with client(environment) as http:
            url = Comments(http, asked, MARKER).put(comment, always=always)
    except BadInput as refused:
        print(f"::warning title=Gradmend::{refused}")
        return
    if url:
        print(url)
