"""Parameters of optimizers that never got a gradient: where they are made, and why that is so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from analyzers.source.targets import assigned

Json = dict[str, Any]
MOST = 4  # modules that are named
UNUSED, CUT_OFF = "nothing that ran uses {it}", "no backward call leads back to what uses {it}"


def described(records: Sequence[Json], names: Sequence[str], files: Mapping[str, str]) -> str:
    """Return these, or the modules that own them, each with its line if only one assignment can
    have made it, and the reason that a run recorded. `files`: the path of each."""
    lines = _assignments(files)
    made = {name: found[0] for name, found in lines.items() if len(found) == 1}
    owners = list(dict.fromkeys(n if _last(n) in made else _owner(n) for n in names))
    listed = [f"`{o}`, {made[_last(o)]}" if _last(o) in made else f"`{o}`" for o in owners[:MOST]]
    more = [f"{len(owners) - MOST} more"] if len(owners) > MOST else []
    reason = next(_reasons(records, names), "").format(it="it" if len(owners) == 1 else "them")
    return " and ".join([", ".join(listed), *more]) + (f": {reason}" if reason else "")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _owner(name: str) -> str:
    """Return the module of a parameter: `net.head` for `net.head.0.weight`."""
    parts = name.split(".")[:-1] or [name]
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return ".".join(parts)


def _reasons(records: Sequence[Json], names: Sequence[str]) -> Iterator[str]:
    for one in records:
        if one["t"] == "silent" and one["kind"] == "unfed-parameters":
            unused = one["params"] if one.get("doubtful") else one.get("uncalled", ())
            if {*names} <= {*unused}:
                yield UNUSED
            elif {*names} <= {*one["params"]}:
                yield CUT_OFF


def _assignments(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the places where each name, or attribute of this name, is assigned."""
    found = dict[str, list[str]]()
    for file, path in files.items():
        with suppress(OSError, ValueError, SyntaxError, RecursionError):
            nodes = ast.walk(ast.parse(Path(path).read_text("utf-8")))
            for statement in (node for node in nodes if isinstance(node, ast.stmt)):
                for name in assigned(statement):
                    places = found.setdefault(_last(name), [])
                    places.append(f"{file}:{statement.lineno}")
    return found
