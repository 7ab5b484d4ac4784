"""A change as it was sent, made two complete versions of one project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from app.change_schemas import ChangeRequest, ProjectVersion, VerificationRequest
from app.http.problems import ProblemError, refused
from app.request.limits import LIMITS, check, check_text
from app.request.patches import applied
from app.request.unpacked import expanded, main_script, with_unpacked
from app.request.uploads import texts_of
from app.schemas import DiagnosisRequest, SourceFile

Version = tuple[str, str, dict[str, SourceFile]]
"""The script's name, its text, and the other files by path."""


def resolved(sent: VerificationRequest, earlier: DiagnosisRequest | None = None) -> ChangeRequest:
    """Return both versions whole, within all limits; `earlier` is what was sent for the diagnosis
    that is named. Raises `ProblemError`."""
    _expect_one_change(sent)
    check_text("patch", sent.patch, LIMITS["script"])
    base = _base(sent, earlier)
    before = _checked("before", base)
    after = _checked("after", _changed(sent, before))
    return ChangeRequest(
        before=ProjectVersion.of(before),
        after=ProjectVersion.of(after),
        traceback=base.traceback,
        args=base.args,
        module=base.module,
        time_limit_s=base.time_limit_s,
        steps=sent.steps,
        torch=base.torch,
        diagnosis=sent.diagnosis,
    )


def as_sent(change: ChangeRequest) -> VerificationRequest:
    """Return the request that `resolved` makes this change of."""
    before, after = ({file.path: file for file in v.files} for v in (change.before, change.after))
    renamed = change.after.filename != change.before.filename
    return VerificationRequest(
        before=change.before.script,
        after=change.after.script,
        files_before=change.before.files,
        files_after=[file for path, file in after.items() if before.get(path) != file],
        files_removed=[path for path in before if path not in after],
        traceback=change.traceback,
        args=change.args,
        filename=change.before.filename,
        filename_after=change.after.filename if renamed else None,
        module=change.module,
        time_limit_s=change.time_limit_s,
        steps=change.steps,
        torch=change.torch,
    )


def as_diagnosis(version: ProjectVersion, change: ChangeRequest) -> DiagnosisRequest:
    """Return the request that would diagnose one version of a change."""
    return DiagnosisRequest(
        script=version.script,
        filename=version.filename,
        files=version.files,
        traceback=change.traceback,
        args=change.args,
        module=change.module,
        time_limit_s=change.time_limit_s,
        torch=change.torch,
    )


def _expect_one_change(sent: VerificationRequest) -> None:
    if sent.diagnosis is not None and (sent.before or sent.files_before):
        raise refused("before", "was sent with `diagnosis`; send one of them")
    if sent.after and sent.patch:
        raise refused("patch", "was sent with `after`; send one of them")
    for name in ("files_after", "files_removed", "filename_after"):
        if sent.patch and getattr(sent, name):
            raise refused(name, "was sent with `patch`; send one of them")
    if not (sent.after.strip() or sent.patch.strip() or sent.files_after):
        raise refused("after", "is empty; send the changed script, or a `patch` that leads to it")


def _base(sent: VerificationRequest, earlier: DiagnosisRequest | None) -> DiagnosisRequest:
    """Return the version before the change, and the way both are started."""
    given: dict[str, Any] = {
        name: getattr(sent, name)
        for name in ("traceback", "args", "filename", "module", "time_limit_s", "torch")
        if name in sent.model_fields_set
    }
    if earlier is not None:
        if not earlier.script.strip():
            raise refused("diagnosis", "was made of a traceback alone; send the script as `before`")
        return earlier.model_copy(update={**given, "trace": ""})
    base = with_unpacked(DiagnosisRequest(script=sent.before, files=sent.files_before, **given))
    if not base.script.strip() and sent.module is None:
        raise refused("before", "is empty; send the script before the change, or a `diagnosis`")
    return base


def _checked(side: str, request: DiagnosisRequest) -> DiagnosisRequest:
    """Return the request within its limits; an error names the side of the change."""
    try:
        return check(request)
    except ProblemError as problem:
        detail = f"{side}: {problem.detail}"
        errors = [{**e, "field": f"{side}.{e['field']}"} for e in problem.errors or ()]
        raise ProblemError(problem.status, problem.slug, detail, errors=errors) from None


def _changed(sent: VerificationRequest, before: DiagnosisRequest) -> DiagnosisRequest:
    files = {file.path: file for file in before.files}
    if sent.patch:
        name, script, files = _patched(sent.patch, before, files)
    else:
        name, script = sent.filename_after or before.filename, sent.after or before.script
        new = expanded(sent.files_after, script)
        files |= {file.path: file for file in new}
        if new is not sent.files_after and not sent.after and name not in files:
            main = main_script(new, "")  # the zip's own script, which is called otherwise
            name = main.path if main is not None else name
        files = {path: file for path, file in files.items() if path not in sent.files_removed}
        if name in files:  # the script itself came among the files
            script = sent.after or files[name].content
            del files[name]
    update = {"filename": name, "script": script, "files": list(files.values())}
    return before.model_copy(update=update)


def _patched(patch: str, before: DiagnosisRequest, files: Mapping[str, SourceFile]) -> Version:
    """Return the version that a patch leads to. A patch that renames the script is followed."""
    texts = {**texts_of(files.values()), before.filename: before.script}
    changed = applied(texts, patch)
    name, script = before.filename, before.script
    if name in changed:
        text = changed[name]
        if text is None:
            name, text = _renamed(name, changed, texts)
        script = text
    kept = {path: file for path, file in files.items() if path not in changed}
    new = {
        path: SourceFile(path=path, content=text)
        for path, text in changed.items()
        if text is not None and path != name
    }
    return name, script, kept | new


def _renamed(
    name: str, changed: Mapping[str, str | None], texts: Mapping[str, str]
) -> tuple[str, str]:
    """Return the new path of a renamed script: the one new Python file, best in its folder."""
    new = [
        (path, text)
        for path, text in changed.items()
        if text is not None and path not in texts and path.endswith(".py")
    ]
    home = PurePosixPath(name).parent
    near = [one for one in new if PurePosixPath(one[0]).parent == home] or new
    if len(near) != 1:
        raise refused("patch", f"removes the script {name}; send the new one as `after`")
    return near[0]
