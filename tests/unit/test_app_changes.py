"""What is sent for a verification, made two versions: patches, files, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from rich.console import Console

from app.change import verify_change
from app.change_schemas import ChangeRequest, ProjectVersion, VerificationRequest
from app.command.verdicts import show
from app.diagnose import NoProgress
from app.http.problems import ProblemError
from app.present.changes import CHECKS, STATES, TONES, WORDS
from app.request.change_versions import as_sent, resolved
from app.request.patches import applied
from app.request.reader import InlineReader
from app.schemas import DiagnosisRequest, SourceFile
from app.verdict import ComparisonName, ComparisonStatus, Sameness
from tests.serving import serving
from tests.verified import HEALTHY, REFACTORED, diff

PATCH = diff(HEALTHY, REFACTORED)


def refusal(**sent: object) -> str:
    with pytest.raises(ProblemError) as caught:
        resolved(VerificationRequest.model_validate(sent))
    assert caught.value.status in (413, 422)
    return caught.value.detail


def test_a_patch_leads_to_the_version_after() -> None:
    change = resolved(VerificationRequest(before=HEALTHY, patch=PATCH))
    assert change.after.script == REFACTORED
    assert change.before.script == HEALTHY


def test_hunks_are_found_where_their_lines_are() -> None:
    shifted = "# a comment\n\n" + HEALTHY
    assert applied({"train.py": shifted}, PATCH) == {"train.py": "# a comment\n\n" + REFACTORED}


def test_wrong_counts_in_a_hunks_head_are_counted_again() -> None:
    head = next(line for line in PATCH.splitlines() if line.startswith("@@"))
    wrong = PATCH.replace(head, "@@ -7,2 +7,9 @@")
    assert applied({"train.py": HEALTHY}, wrong) == {"train.py": REFACTORED}


def test_line_ends_and_a_missing_last_one_stay() -> None:
    windows = HEALTHY.replace("\n", "\r\n").rstrip()
    assert applied({"train.py": windows}, PATCH) == {
        "train.py": REFACTORED.replace("\n", "\r\n").rstrip()
    }


def test_a_path_is_known_by_its_end() -> None:
    patch = diff(HEALTHY, REFACTORED, "repo/src/train.py")
    assert applied({"train.py": HEALTHY}, patch) == {"train.py": REFACTORED}


def test_files_are_added_removed_and_renamed() -> None:
    patch = (
        "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\n"
        "rename to new.py\n--- a/old.py\n+++ b/new.py\n@@ -1,1 +1,1 @@\n-a = 1\n+a = 2\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n"
        "@@ -1,1 +0,0 @@\n-b = 1\n"
        "diff --git a/more.py b/more.py\nnew file mode 100644\n--- /dev/null\n+++ b/more.py\n"
        "@@ -0,0 +1,1 @@\n+c = 1\n"
    )
    files = {"old.py": "a = 1\n", "gone.py": "b = 1\n"}
    assert applied(files, patch) == {
        "old.py": None,
        "new.py": "a = 2\n",
        "gone.py": None,
        "more.py": "c = 1\n",
    }


def test_a_patch_that_renames_the_script_is_followed() -> None:
    patch = "diff --git a/train.py b/fit.py\nrename from train.py\nrename to fit.py\n" + diff(
        HEALTHY, REFACTORED
    ).replace("+++ b/train.py", "+++ b/fit.py")
    change = resolved(VerificationRequest(before=HEALTHY, patch=patch))
    assert (change.after.filename, change.after.script) == ("fit.py", REFACTORED)


def test_a_patch_that_does_not_apply_names_its_hunk_and_line() -> None:
    other = HEALTHY.replace("mse_loss", "huber_loss")
    reported = refusal(before=other, patch=PATCH)
    assert "hunk 1 of train.py" in reported
    assert "line 10" in reported
    assert "huber_loss" in reported


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"before": HEALTHY}, "after is empty"),
        ({"after": HEALTHY}, "before is empty"),
        ({"before": HEALTHY, "after": "a", "patch": PATCH}, "patch was sent with `after`"),
        ({"before": HEALTHY, "diagnosis": "x", "after": "a"}, "send one of them"),
        ({"before": HEALTHY, "patch": "what is this"}, "holds no change"),
        ({"before": HEALTHY, "patch": "@@ -1 +1 @@\n-a\n+b\n"}, "is no unified diff"),
        (
            {"before": HEALTHY, "patch": PATCH.replace("train.py", "model.py")},
            "'model.py', which was not sent; there is train.py",
        ),
        ({"before": HEALTHY, "after": "x" * 300_000}, "after: script is 300,000 bytes"),
        ({"before": "a\0b", "after": "x"}, "before: script: line 1 holds a NUL byte"),
        (
            {"before": "a", "after": "b", "files_after": [{"path": "../x.py", "content": ""}]},
            "leaves the project's directory",
        ),
    ],
)
def test_bad_input_says_what_to_send(sent: dict[str, object], words: str) -> None:
    assert words in refusal(**sent)


def test_the_diagnosis_gives_what_is_not_sent() -> None:
    earlier = DiagnosisRequest(
        script=HEALTHY,
        filename="a/loop.py",
        files=[SourceFile(path="a/net.py", content="x = 1\n")],
        args=["--fast"],
        time_limit_s=7,
    )
    change = resolved(VerificationRequest(diagnosis="id", after=REFACTORED, steps=5), earlier)
    assert change.before.script == HEALTHY
    assert change.after.script == REFACTORED
    assert change.before.filename == change.after.filename == "a/loop.py"
    assert [file.path for file in change.after.files] == ["a/net.py"]
    assert (change.args, change.time_limit_s, change.steps) == (["--fast"], 7, 5)


def test_a_module_is_the_entry_of_both_versions() -> None:
    files = [SourceFile(path="pkg/train.py", content=HEALTHY)]
    after = [SourceFile(path="pkg/train.py", content=REFACTORED)]
    sent = VerificationRequest(module="pkg.train", files_before=files, files_after=after)
    change = resolved(sent)
    assert (change.before.filename, change.before.script) == ("pkg/train.py", HEALTHY)
    assert (change.after.filename, change.after.script) == ("pkg/train.py", REFACTORED)


def test_whole_versions_can_be_sent() -> None:
    same, old, new = (SourceFile(path=path, content="x = 1\n") for path in ("a.py", "b.py", "c.py"))
    edited = same.model_copy(update={"content": "x = 2\n"})
    change = ChangeRequest(
        before=ProjectVersion(filename="old.py", script=HEALTHY, files=[same, old]),
        after=ProjectVersion(filename="new.py", script=REFACTORED, files=[edited, new]),
        args=["--fast"],
        time_limit_s=7,
        steps=5,
    )
    assert resolved(as_sent(change)) == change
    backwards = change.model_copy(update={"before": change.after, "after": change.before})
    assert resolved(as_sent(backwards)) == backwards


def test_what_a_patch_already_says_is_refused_next_to_it() -> None:
    sent = {"before": HEALTHY, "patch": PATCH}
    assert refusal(**sent, files_removed=["net.py"]).startswith("files_removed was sent with")
    assert refusal(**sent, filename_after="new.py").startswith("filename_after was sent with")


async def test_the_api_refuses_as_clearly(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        unknown = await http.post(
            "/v1/verifications", json={"diagnosis": "nowhere", "after": HEALTHY}
        )
        assert (unknown.status_code, unknown.headers["content-type"]) == (
            404,
            "application/problem+json",
        )
        odd = await http.post("/v1/verifications", json={"before": "a", "afters": "b"})
        assert odd.status_code == 422
        assert "afters" in odd.text
        patch = {"before": HEALTHY.replace("mse", "l2"), "patch": PATCH}
        misfit = await http.post("/v1/verifications", json=patch)
        assert misfit.status_code == 422
        assert misfit.json()["errors"][0]["field"] == "patch"
        assert "hunk 1" in misfit.json()["detail"]
        form = {"before": "a", "after": "b", "before2": "c"}
        assert (await http.post("/v1/verifications", data=form)).status_code == 422


@pytest.mark.parametrize("broken", ["train.py", "net.py"])
async def test_a_syntax_error_of_the_change_comes_first(broken: str) -> None:
    texts = {"train.py": "import net\n\nprint(net.x)\n", "net.py": "x = 1\n"}
    change = ChangeRequest(
        before=version(texts), after=version({**texts, broken: "x = 1\nx = (\n"})
    )
    found = await verify_change(change, sandbox=None, reader=InlineReader(), progress=NoProgress())
    error = f"{broken}:2:5: syntax error: '(' was never closed."
    assert (found.verdict, found.summary) == ("breaks", f"{error} Nothing was run.")
    shown = Console(record=True, width=200)
    show(change, found, shown)
    assert "Breaks the training" in shown.export_text()
    same = ChangeRequest(before=change.after, after=change.after)
    kept = await verify_change(same, sandbox=None, reader=InlineReader(), progress=NoProgress())
    assert kept.verdict == "not_comparable"


def version(texts: dict[str, str]) -> ProjectVersion:
    """A project whose script is `train.py`."""
    files = [SourceFile(path=path, content=text) for path, text in texts.items()]
    script = next(file for file in files if file.path == "train.py")
    files.remove(script)
    return ProjectVersion(filename="train.py", script=script.content, files=files)


async def test_without_a_sandbox_nothing_is_claimed(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        made = await http.post(
            "/v1/verifications?wait=20", json={"before": HEALTHY, "after": REFACTORED}
        )
    assert made.status_code == 200
    assert made.json()["verdict"] == "not_comparable"
    assert "not run here" in made.json()["summary"]


async def test_a_key_belongs_to_one_request(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        key = {"Idempotency-Key": "once"}
        body = {"before": HEALTHY, "after": REFACTORED}
        first = await http.post("/v1/verifications?wait=20", json=body, headers=key)
        again = await http.post("/v1/verifications?wait=20", json=body, headers=key)
        assert first.json()["id"] == again.json()["id"]
        other = await http.post("/v1/diagnoses", json={"script": HEALTHY}, headers=key)
        assert other.status_code == 422


async def test_verifications_count_for_the_rate_limit_and_the_queue(tmp_path: Path) -> None:
    body = {"before": HEALTHY, "after": REFACTORED}
    client = ("192.0.2.7", 5000)
    async with serving(tmp_path, client=client, rate_limit="1/minute") as http:
        assert (await http.post("/v1/verifications?wait=20", json=body)).status_code == 200
        second = await http.post("/v1/verifications?wait=20", json=body)
        assert (second.status_code, "retry-after" in second.headers) == (429, True)
        assert (await http.post("/verify", data=body)).status_code == 429


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"before": HEALTHY}, "Paste the changed script, or a patch"),
        ({"after": HEALTHY}, "Paste the script before the change."),
    ],
)
async def test_the_form_asks_for_the_box_that_is_empty(
    tmp_path: Path, sent: dict[str, str], words: str
) -> None:
    async with serving(tmp_path) as http:
        shown = await http.post("/verify", data=sent)
    assert shown.status_code == 422
    assert words in shown.text


async def test_only_the_sender_deletes_a_verification(tmp_path: Path) -> None:
    body = {"before": HEALTHY, "after": REFACTORED}
    async with serving(tmp_path) as http:
        made = await http.post("/v1/verifications?wait=20", json=body)
        token = made.headers["x-delete-token"]
    async with serving(tmp_path, client=("192.0.2.7", 5000)) as http:
        where = made.headers["location"]
        assert (await http.delete(where)).status_code == 403
        assert (await http.post(f"{where}/keep")).status_code == 403
        gone = await http.delete(where, headers={"X-Delete-Token": token})
        assert gone.status_code == 204


def test_every_check_of_a_comparison_has_words() -> None:
    names, statuses = get_args(ComparisonName), get_args(ComparisonStatus)
    flat = {name for part in names for name in (get_args(part) or (part,))}
    assert flat <= set(CHECKS)
    assert set(statuses) <= set(STATES)
    assert {None, *get_args(Sameness)} == set(WORDS) == set(TONES)
