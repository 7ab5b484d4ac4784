"""`gradmend run --check` where nothing was found: what was looked at, and what that showed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzers.explain.listed import counted, some
from analyzers.explain.silent_matches import ZERO_LOSS
from gradmend.run_wrapper.exchange_dir import Process

Json = dict[str, Any]
_UNKNOWN = "nothing that was seen says why"
FEW = 7  # calls of a line that show how its graph goes on, and what names keep of it


def summary(found: Sequence[Process], calls: int = 0) -> str:
    """Return a line about the processes that trained, the first of them by rank; else about the
    backward `calls` of an engine that were seen as the program ran again."""
    trained = [one for one in found if b'{"t":"backward"' in one.records]
    if not trained and calls:
        said = f"checked {counted(calls, 'backward call')} of the program's own engine"
        return f"{said}, in a repeated run: no fault was found"
    if not trained:
        engine = any(one.engine for one in found)
        return f"checked nothing: no backward call was {'seen' if engine else 'made'}"
    records = list(_records(trained[0].records))
    ended = records[-1] if records and records[-1]["t"] == "end" else None
    if ended is None:
        return "checked nothing: the records stop before the program did (is a disk full?)"
    notes = [*_learning(records, trained[0].files), *_level(records), "no fault was found"]
    notes += _detached(trained[0]) if ended["constant_at"] else []
    if zeros := _zeros(records):
        why = "every loss was zero" if _has_detail(records, ZERO_LOSS) else _UNKNOWN
        notes = [f"{some(zeros)}: no gradient but zeros", why]
    examined, calls = ended["examined"], ended["backwards"]
    number = f"{examined} of {calls}" if examined < calls else f"{calls}"
    ranks = f" of rank 0 of {len(trained)}" if len(trained) > 1 else ""
    whole = f"checked {number} backward call{'s' * (calls != 1)}{ranks}: {', '.join(notes)}"
    return "; ".join([whole, *ended["truncated"]])


def _detached(process: Process) -> list[str]:
    from gradmend.run_wrapper.cut_terms import detached_terms

    found = list(dict.fromkeys(detached_terms(process)))
    return [f"a term of the loss at {' and '.join(found)} is detached and trains nothing"] * bool(
        found
    )


def _records(lines: bytes) -> Iterator[Json]:
    for line in lines.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            return
        if isinstance(one, dict) and isinstance(one.get("t"), str):
            yield one


def _zeros(records: Sequence[Json]) -> list[str]:
    """Return the parameters that surely got no other gradient than zeros."""
    received = {n for one in records if one["t"] == "backward" for n in one["received"]}
    known = [one for r in records if r["t"] == "parameters" for one in r["params"]]
    fed = {one["name"] for one in known if one["id"] in received}
    silent = [one for one in records if one["t"] == "silent" and one["kind"] == "unfed-parameters"]
    return [n for one in silent if not one.get("doubtful") for n in one["params"] if n in fed]


def _has_detail(records: Sequence[Json], detail: str) -> bool:
    return any(one.get("detail") == detail for one in records if one["t"] == "silent")


def _learning(records: Sequence[Json], files: Mapping[str, str]) -> Iterator[str]:
    """Yield how many of the optimizers' parameters got a gradient from backward calls, and which
    got none."""
    latest = {one["id"]: one for r in records if r["t"] == "parameters" for one in r["params"]}
    trained = {
        number
        for number, one in latest.items()
        if one["optimizer"] is not None and one["requires_grad"]
    }
    optimizers = {one["optimizer"] for one in latest.values() if one["optimizer"] is not None}
    given = {n for r in records if r["t"] == "backward" for n in r["received"]} & trained
    of = {0: "", 1: "of the optimizer"}.get(len(optimizers), f"of {len(optimizers)} optimizers")
    if len(optimizers) == 2:
        of = "of both optimizers"
    if not trained:
        yield "no optimizer was made"
    elif given == trained and (idle := _idle(records)):
        yield f"no step at {' or '.join(idle)} changes a parameter"
    elif given == trained:
        yield f"every parameter {of} gets a gradient"
    else:
        from gradmend.run_wrapper.unused import described

        names = [latest[number]["name"] for number in sorted(trained - given)]
        without = f" (not {described(records, names, files)})" if all(names) else ""
        yield f"{len(given)} of the {len(trained)} parameters {of} get a gradient{without}"


def _idle(records: Sequence[Json]) -> list[str]:
    """Return where optimizers step none of whose steps that were looked at changed a parameter:
    what they hold may have got its gradients while another optimizer trained it.
    """
    changed, places = dict[int, int](), dict[int, str]()
    for one in records:
        if one["t"] == "step" and one["at"] is not None:
            number = one["optimizer"]
            changed[number] = max(changed.get(number, 0), one["changed"])
            places.setdefault(number, f"{one['at']['file']}:{one['at']['line']}")
    return list(dict.fromkeys(places[number] for number, most in changed.items() if not most))


def _level(records: Sequence[Json]) -> Iterator[str]:
    """Yield whether the graphs of each line stay as large as they were."""
    sizes = defaultdict[tuple[str, int], list[int]](list)
    for one in records:
        if one["t"] == "backward":
            at = one["call"]["at"]
            sizes[at["file"], at["line"]].append(one["nodes"])
    long = [each for each in sizes.values() if len(each) >= FEW]
    halves = [(each[: len(each) // 2], each[len(each) // 2 :]) for each in long]
    if halves and all(max(later) <= max(first) for first, later in halves):
        yield "graphs stay level"
