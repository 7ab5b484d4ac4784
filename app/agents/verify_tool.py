"""The tool `verify`: what a change does to the training, in files here or as code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Protocol

from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

from app.agents.answers import AgentAnswer, fitted
from app.agents.tools import READS, refusals
from app.change_schemas import ChangeFindings, ChangeRequest, ProjectVersion, VerificationRequest
from app.command.options import BadInput, Options
from app.command.project import Target, target_of
from app.command.sides import Comparison, patched
from app.present.changes import moment, places
from app.schemas import SourceFile

NEXT = {
    "same": "Nothing to do. After your next change to the training, verify again.",
    "truncated": "Gradients stop where the original fails to go on: usual for a recurrent state.",
    "changed": "If this was not meant, undo what is named here, and verify again.",
    "breaks": "Fix what is named here, and verify again.",
    "not_comparable": "Remove the reason named here (seed all random numbers, say); try again.",
}


class VerifiedChange(AgentAnswer):
    """`verdict`: `same`, `truncated` (gradients stop at an earlier backward), `changed`, `breaks`
    or `not_comparable`. `first`: what differs first, and when; `before` and `after`: the lines of
    the loss there. `equal` of `compared` steps are the same. `better`: a fix of ours that keeps
    more of the training; `diagnose` and `show` show it."""

    id: str = ""
    verdict: str
    summary: str
    first: str | None = None
    before: str | None = None
    after: str | None = None
    equal: int = 0
    compared: int = 0
    notes: list[str] | None = None
    better: str | None = None
    next: str | None = None


def verified_change(found: ChangeFindings, name: str = "") -> VerifiedChange:
    """Return a verdict in brief."""
    answer = VerifiedChange(
        id=name,
        verdict=found.verdict or "running",
        summary=found.summary,
        equal=found.steps_equal,
        compared=found.steps_compared,
        notes=found.notes or None,
        better=found.better.title if found.better else None,
        next=NEXT.get(found.verdict or ""),
    )
    if found.witness is not None:
        named = f"{found.witness.parameter} " if found.witness.parameter else ""
        answer.first = f"{moment(found.witness)}: {named}{found.witness.what}"
        lines = dict(places(found.witness))
        answer.before, answer.after = lines.get("before"), lines.get("after")
    order = ("notes", "before", "after", "better", "summary", "first")
    return fitted(answer, *((answer, field) for field in order))


class VerifiesCode(Protocol):
    """Who takes two versions as code. Failures are `ProblemError` or `ValueError`."""

    async def verify(self, sent: VerificationRequest, context: Context) -> VerifiedChange: ...


class VerifiesFiles(Protocol):
    """Who compares versions in this machine's sandbox, and knows what was diagnosed."""

    async def verify(self, request: ChangeRequest, context: Context) -> VerifiedChange: ...

    def diagnosed(self, name: str) -> Target: ...


def add_verify(server: MCPServer, desk: VerifiesCode) -> None:
    """Add the tool that takes code rather than files."""

    @server.tool(annotations=READS)
    async def verify(
        context: Context,
        before: Annotated[str, Field(description="the script before the change")] = "",
        after: Annotated[str, Field(description="the script after the change")] = "",
        patch: Annotated[str, Field(description="instead of `after`: a unified diff")] = "",
        diagnosis: Annotated[
            str | None, Field(description="instead of `before`: the id of a diagnosis of it")
        ] = None,
        files_before: Annotated[
            list[SourceFile] | None, Field(description="further modules, small data files")
        ] = None,
        files_after: Annotated[
            list[SourceFile] | None, Field(description="those that the change replaces or adds")
        ] = None,
        args: Annotated[list[str] | None, Field(description="the script's arguments")] = None,
        filename: str = "train.py",
        steps: Annotated[
            int | None, Field(ge=1, description="stop both after so many optimizer steps")
        ] = None,
    ) -> VerifiedChange:
        """What a change does to the training: run both versions in a sandbox, compare each step.
        For your own fix of a script, and after any change to a training loop."""
        with refusals():
            given = {
                "before": before,
                "after": after,
                "patch": patch,
                "diagnosis": diagnosis,
                "files_before": files_before,
                "files_after": files_after,
                "args": args,
                "filename": "" if diagnosis else filename,
                "steps": steps,
            }
            known = {name: value for name, value in given.items() if value}
            return await desk.verify(VerificationRequest.model_validate(known), context)


def add_verify_here(server: MCPServer, desk: VerifiesFiles) -> None:
    """Add the tool that takes files of this machine and git revisions."""

    @server.tool(annotations=READS)
    async def verify(
        context: Context,
        path: Annotated[str, Field(description="the changed script, or REV:path in git")] = "",
        before: Annotated[
            str, Field(description="what it was before: a file or REV:path; else HEAD:path")
        ] = "",
        patch: Annotated[
            str, Field(description="a unified diff to try on `path`; nothing is written")
        ] = "",
        diagnosis: Annotated[
            str, Field(description="instead of `before`: the id of a diagnosis, as it was then")
        ] = "",
        args: Annotated[list[str] | None, Field(description="the script's arguments")] = None,
        steps: Annotated[
            int | None, Field(ge=1, description="stop both after so many optimizer steps")
        ] = None,
    ) -> VerifiedChange:
        """What a change does to the training: run both versions in a sandbox, compare each step.
        For your own fix of a script, and after any change to a training loop."""
        with refusals():
            options = Options((), args=tuple(args or ()))
            if diagnosis:
                request = _since(desk.diagnosed(diagnosis), path, patch, options, steps)
            elif not path:
                raise BadInput("Which script? Give `path`, or the id of a `diagnosis`.")
            elif patch:
                request = patched(target_of(Path(path), options).request, patch, steps)
            else:
                sides = (before or f"HEAD:{path.rpartition(':')[2]}", path)
                request = Comparison(*sides, None, None, options, steps).request()
            return await desk.verify(request, context)


def _since(
    target: Target, path: str, patch: str, options: Options, steps: int | None
) -> ChangeRequest:
    """Return the diagnosed sources as `before`, and a patch of them or the current file as
    `after`."""
    old = target.request
    if patch:
        return patched(old, patch, steps)
    place = Path(path) if path else target.path
    if place is None:
        raise BadInput("The code came without a file: give a `patch`, or the `path` of a file.")
    arguments = options.args or tuple(old.args)
    new = target_of(place, replace(options, args=arguments, module=old.module)).request
    return ChangeRequest(
        before=ProjectVersion.of(old),
        after=ProjectVersion.of(new),
        traceback=old.traceback,
        args=list(arguments),
        module=old.module,
        time_limit_s=old.time_limit_s,
        steps=steps,
    )
