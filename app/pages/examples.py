"""The examples that the form offers: whole scripts in `app/examples`, each with what it prints.

`NAME.py` is the script; its docstring's first line is the caption. `NAME.txt` is the traceback of
a real run; a healthy script has none. `outcomes.toml` says what each one leads to.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

CLAUSE = re.compile(r" \(|: |\. |$")
"""What ends the first clause of a message."""


@dataclass(frozen=True, slots=True)
class Example:
    """`error` is the first clause of its message; `outcome` is what a diagnosis of it comes to."""

    name: str
    caption: str
    error: str
    outcome: str
    script: str
    traceback: str


@cache
def examples() -> tuple[Example, ...]:
    """Every example, in the order of their file names."""
    folder = files("app") / "examples"
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".py"))
    outcomes = tomllib.loads((folder / "outcomes.toml").read_text("utf-8"))
    found = []
    for name in scripts:
        script = (folder / name).read_text("utf-8")
        output = folder / f"{name[:-3]}.txt"
        traceback = output.read_text("utf-8") if output.is_file() else ""
        caption = (ast.get_docstring(ast.parse(script)) or name).split("\n")[0].rstrip(".")
        last = traceback.rstrip().split("\n")[-1]
        message = last.partition(":")[2].strip() if last else "No error"
        slug = name[:-3].partition("_")[2] or name[:-3]
        error = CLAUSE.split(message)[0]
        found.append(Example(slug, caption, error, outcomes[slug], script, traceback))
    return tuple(found)
