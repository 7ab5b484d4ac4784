"""A fix that failed a check is never handed out: not written, not in the brief view, not copied."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.agents.answers import diagnosed
from app.command.fixing import best, chosen, why_none
from app.command.options import ARGUMENTS, WORDS, Options
from app.present.brief import brief_of
from app.schema_types import Level, Verified
from app.schemas import Check, Diagnosis, Findings, Patch, Verification
from gradmend.run_wrapper import last_result
from gradmend.run_wrapper.apply import apply

BEFORE, AFTER = "x = 1\n", "x = 2\n"


def patch(n: int, status: Verified, level: Level) -> Patch:
    return Patch(
        n=n,
        strategy="s",
        title=f"Fix {n}",
        diff="--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
        script=AFTER,
        snippet="x = 2",
        gradients="changed",
        level=level,
        verification=Verification(
            status=status,
            checks=[Check(name="runs", status="failed" if status == "failed" else "passed")],
        ),
    )


FAILED, UNSAFE, READ = (
    patch(1, "failed", "display_only"),
    patch(2, "passed", "unsafe"),
    patch(3, "not_run", "display_only"),
)


def of(*patches: Patch) -> Findings:
    renumbered = [one.model_copy(update={"n": n}) for n, one in enumerate(patches, 1)]
    return Findings(verdict="confirmed", patches=renumbered)


def test_what_is_chosen_goes_by_the_level() -> None:
    assert best([FAILED, UNSAFE]) is None
    assert best([FAILED, UNSAFE], unsafe=True) is UNSAFE
    assert best([FAILED, READ], unsafe=True) is None
    one = Options((), fix=1, chosen=True, unsafe=True)
    assert chosen(of(FAILED), one) is None
    assert why_none(of(FAILED), one) == "fix 1 failed its checks"
    assert chosen(of(READ), one) is not None
    assert "--unsafe-fixes" in why_none(of(UNSAFE), Options((), fix=1))


def test_the_brief_view_and_agents_get_one_that_did_not_fail() -> None:
    now = datetime.now(UTC)
    found = of(FAILED, READ)
    diagnosis = Diagnosis(
        id="i", url="u", created_at=now, expires_at=now, status="done", **found.model_dump()
    )
    brief = brief_of(diagnosis)
    assert brief.patch is not None
    assert brief.patch.status == "not_run"
    assert brief_of(diagnosis.model_copy(update={"patches": [FAILED]})).patch is None
    answer = diagnosed("1", found)
    assert answer.fix is not None
    assert (answer.fix.n, answer.fix.level) == (2, "display_only")


@pytest.mark.parametrize(
    ("patches", "arguments", "written", "said"),
    [
        ((FAILED,), [], False, "no fix passed its checks"),
        ((FAILED,), ["1", "--unsafe-fixes"], False, "fix 1 failed its checks"),
        ((UNSAFE,), [], False, "--unsafe-fixes takes the first of 1 unsafe fix"),
        (
            (UNSAFE,),
            ["--unsafe-fixes"],
            True,
            "this fix changes the training",
        ),
        ((READ,), ["1", "--unsafe-fixes"], True, "this fix was not tested"),
    ],
)
def test_apply_writes_by_the_level(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    patches: tuple[Patch, ...],
    arguments: list[str],
    written: bool,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = tmp_path / "train.py"
    script.write_text(BEFORE)
    assert last_result.keep(
        last_result.Last(of(*patches), {"train.py": BEFORE}, {"train.py": str(script)}, "train.py")
    )
    assert apply(arguments) == (0 if written else 1)
    assert script.read_text() == (AFTER if written else BEFORE)
    assert said in capsys.readouterr().err


def test_why_there_is_none_is_said_in_the_words_of_each_door() -> None:
    agent, terminal = (Options((), fix=1, switches=one) for one in (ARGUMENTS, WORDS))
    assert "unsafe=true takes the first of 1 unsafe fix" in why_none(of(UNSAFE), agent)
    assert "; --unsafe-fixes takes" in why_none(of(UNSAFE), terminal)
    assert "; n=1 with unsafe=true takes one" in why_none(of(READ), agent)
    assert "; --unsafe-fixes 1 takes one" in why_none(of(READ), terminal)
