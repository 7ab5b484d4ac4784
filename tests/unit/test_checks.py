"""Each check of a patched run can pass, and can fail."""

from __future__ import annotations

from dataclasses import replace

from app.repair import checks
from app.repair.own_cuts import cut_off_before
from provenance import CodeLine
from sandbox.protocol import Raised, RunResult
from sandbox.records import (
    RunEnd,
    Silent,
    Stale,
    Trace,
)
from tests.synthesized_traces import trace


def run(status: str, calls: int, **more: object) -> RunResult:
    ended = RunEnd(t="end", reason="finished", backwards=calls)
    return RunResult.model_validate({"status": status, "trace": Trace(ended=ended), **more})


def test_a_patched_script_runs_when_it_ends_or_goes_well_past_the_failure() -> None:
    original = run("raised", 1)
    assert checks.runs(run("finished", 1), original).status == "passed"
    assert checks.runs(run("stopped", 4), original).status == "passed"
    assert checks.runs(run("timed_out", 4), original).status == "passed"
    raised = run("raised", 9, raised=Raised(type="RuntimeError", message="no\nmore"))
    assert checks.runs(raised, original).detail == "RuntimeError: no"


def test_an_error_of_the_original_far_behind_the_failure_is_no_fault_of_the_patch() -> None:
    error = Raised(type="FileNotFoundError", message="results.csv")
    late, held = run("raised", 9, raised=error), run("raised", 12, raised=error)
    assert checks.runs(late, run("raised", 1), held).status == "passed"
    assert checks.runs(late, run("raised", 8), held).status == "failed"
    assert checks.runs(late, run("raised", 1), run("finished", 12)).status == "failed"


def test_what_a_run_of_ours_could_not_finish_says_nothing() -> None:
    original = run("raised", 1)
    killed = Raised(type="Signal", message="the script was ended by signal 9")
    for nothing in (
        run("unavailable", 0, reason="no room"),
        run("timed_out", 2),
        run("raised", 2, raised=killed, exit_code=-9),
    ):
        assert checks.runs(nothing, original).status == "not_run"
    crashed = run("raised", 2, raised=killed, exit_code=-11)
    assert checks.runs(crashed, original).status == "failed"
    assert checks.runs(run("limit_hit", 2, limit="memory"), original).status == "failed"


def test_a_silent_fault_that_stays_fails_the_run() -> None:
    result, original, other = (run("finished", 9) for _ in range(3))
    for one, kind in ((result, "growing-graph"), (original, "growing-graph"), (other, "x")):
        assert one.trace is not None
        one.trace.silent.append(Silent(t="silent", kind=kind))
    assert checks.runs(result, original).status == "failed"
    assert checks.runs(result, other).status == "passed"


def test_what_reading_finds_nowhere_is_spared_where_the_patch_fixes_the_rest() -> None:
    def untrained(*names: str) -> RunResult:
        result = run("finished", 9)
        assert result.trace is not None
        result.trace.silent.append(Silent(t="silent", kind="unfed-parameters", params=[*names]))
        return result

    def dismissed(result: RunResult) -> RunResult:
        assert result.trace is not None
        return result.model_copy(update={"dismissed": result.trace.silent})

    original, mended = untrained("body", "head"), untrained("head")
    assert checks.runs(dismissed(mended), original).status == "passed"
    assert checks.runs(mended, original).status == "failed"  # reading sees a fault in it
    assert checks.runs(dismissed(original), original).status == "failed"  # nothing is fixed


def test_a_patch_may_not_cut_off_what_the_original_gave_a_gradient() -> None:
    """However small that was: the gradients may be equal but for it."""

    def of(received: list[int], *names: str) -> RunResult:
        seen = trace([{0: 1.0}], [3])
        first = seen.backwards[0].model_copy(update={"received": received, "outcome": "ok"})
        silent = [Silent(t="silent", kind="unfed-parameters", params=names)] if names else []
        update = {"backwards": [first], "silent": silent}
        return RunResult(status="finished", trace=seen.model_copy(update=update))

    patched = of([0], "w1")
    cut = checks.no_other_fault(patched, of([0, 1]), None)
    assert cut is not None
    assert cut.status == "failed"
    never = checks.no_other_fault(patched, of([0]), None)
    assert never is not None
    assert never.status == "differs"
    assert checks.no_other_fault(of([0]), of([0, 1]), None) is None


def test_a_cut_that_the_patch_leaves_alone_was_there_before() -> None:
    before = {"train.py": "a = net(x)\nb = a.detach()\nloss = head(b)\n"}
    at = CodeLine(file="train.py", line=3)
    silent = Silent(t="silent", kind="unfed-parameters", params=("w",), at=at)
    shown = RunResult(status="finished", trace=Trace(silent=[silent]))
    patched = {"train.py": "x = x.clone()\n" + before["train.py"]}
    assert cut_off_before(shown, before, patched) == {"w"}
    cutting = {"train.py": "a = net(x)\nb = a\nb = b.data\nloss = head(b)\n"}
    assert cut_off_before(shown, before, cutting) == set()


def test_a_stale_walk_is_not_fresh() -> None:
    clean = trace(nodes=[3, 3])
    assert checks.fresh(clean).status == "passed"
    stale = clean.backwards[0].model_copy(update={"stale": [Stale(param=0, changed_by=1)]})
    assert checks.fresh(Trace(backwards=[stale])).status == "failed"
    assert checks.fresh(Trace()).status == "not_run"


def test_weights_that_the_script_writes_itself_are_stale_unless_the_original_means_it() -> None:
    clean = run("finished", 3).model_copy(update={"trace": trace(nodes=[3, 3])})
    assert clean.trace is not None
    calls = [
        record.model_copy(update={"stale": [Stale(param=0, by_hand=True)]})
        for record in clean.trace.backwards
    ]
    written = clean.model_copy(update={"trace": Trace(backwards=calls)})
    assert checks.fresh(written.trace, clean).status == "failed"
    assert checks.fresh(written.trace, written).status == "passed"
    raised = [record.model_copy(update={"outcome": "raised"}) for record in calls]
    failing = clean.model_copy(update={"trace": Trace(backwards=raised)})
    assert checks.fresh(written.trace, failing).status == "failed"


def test_growth_shows_over_five_calls() -> None:
    assert checks.bounded(trace(nodes=[6, 9, 12, 15, 18, 21])).status == "failed"
    assert checks.bounded(trace(nodes=[6, 6, 6, 6, 6, 6])).status == "passed"
    assert checks.bounded(trace(nodes=[6, 9])).status == "not_run"


def keeping(*kept: int) -> Trace:
    found = trace(nodes=[5] * len(kept))
    return Trace(
        backwards=[
            r.model_copy(update={"kept": n, "reach": 0})
            for r, n in zip(found.backwards, kept, strict=True)
        ]
    )


def test_what_is_kept_alive_may_not_grow_faster_than_in_the_original() -> None:
    level, slow, fast = keeping(*[9] * 6), keeping(*range(9, 15)), keeping(*range(9, 39, 5))
    assert checks.bounded(fast, level).status == "failed"
    assert checks.bounded(fast, fast).status == "differs"  # no growth is not what was seen
    assert checks.bounded(slow, fast).status == "differs"
    assert checks.bounded(fast).status == "passed"
    assert checks.bounded(level, level).status == "passed"
    assert checks.keeps_growing(level) == checks.keeps_growing(keeping(9, 12, 15, 9, 12, 15)) == ""
    assert checks.keeps_growing(fast) == "every iteration keeps 5 more nodes of graphs alive"


def test_a_helper_that_one_pass_calls_time_and_again_hoards_nothing() -> None:
    found = keeping(*range(9, 39, 5))
    for n, record in enumerate(found.backwards):
        line = record.call.at
        caller = replace(line, line=100 + n % 3)
        visit = replace(record.call, stack=(caller, line))
        found.backwards[n] = record.model_copy(update={"call": visit})
    assert checks.keeps_growing(found) == ""


def test_changed_lines_are_counted() -> None:
    lines = checks.changed_by({"a.py": "a\nb\nc\n"}, {"a.py": "a\nB\nx\nc\n"})
    assert lines == 2
    assert checks.minimal(lines, same=False).status == "passed"
    assert checks.minimal(99, same=False).status == "failed"
    assert checks.minimal(99, same=True).detail == "99 lines changed; the gradients stay the same"
