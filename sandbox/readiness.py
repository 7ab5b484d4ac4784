"""Decide whether a backend may run anything, from a real process that inspects its walls."""

from __future__ import annotations

import json

from sandbox.protocol import Job, Readiness
from sandbox.watch.outcome import ProcessOutcome

PROBE = Job(files={}, mode="plain", time_limit_s=20)


def judge(outcome: ProcessOutcome, backend: str, allow_missing: list[str]) -> Readiness:
    """Return the readiness: ready if the probe inside confirmed every wall that was raised.

    Walls in `allow_missing` that are not up do not matter but are named in `reason`.
    """
    if outcome.ending != "exited" or outcome.exit_code != 0:
        reason = f"the probe ended {outcome.ending}: {outcome.reason}"
        if outcome.wall:
            reason = f"the wall {outcome.wall} could not be raised: {outcome.reason}"
        return Readiness(ready=False, backend=backend, reason=reason)
    report: dict[str, dict[str, str]] = json.loads(outcome.records)
    seen = report["walls"]
    if not outcome.peak_memory_mib:
        seen["memory-watch"] = "the watcher could not read the run's memory"
    wrong = {wall: fault for wall, fault in seen.items() if fault and wall in outcome.walls}
    notes = [f"the wall {wall} does not hold: {fault}" for wall, fault in wrong.items()]
    gaps = [wall for wall in allow_missing if wall not in outcome.walls]
    notes += [f"the wall {wall} is missing, as the operator allowed" for wall in gaps]
    return Readiness(
        ready=not wrong,
        backend=backend,
        walls=[wall for wall in outcome.walls if wall not in wrong],
        reason="; ".join(notes) or None,
        environment=report["environment"],
    )
