"""What can be asked of a run's result: `gradmend apply`, `show`, `explain`."""

from __future__ import annotations

from collections.abc import Callable

from app.present.guide import guides
from app.schemas import Patch
from gradmend.beside import last, telling
from gradmend.beside.main import USAGE
from gradmend.beside.saying import Paint, note


def apply(arguments: list[str]) -> int:
    """`gradmend apply [N]`: write the fix into the files."""

    def write(kept: last.Last, patch: Patch) -> None:
        telling.one_patch(patch, Paint())
        note(f"changed {', '.join(last.write(kept, patch))}")

    return _of_last(arguments, write)


def show(arguments: list[str]) -> int:
    """`gradmend show [N]`: a fix of the last run with its checks."""
    return _of_last(arguments, lambda kept, patch: telling.one_patch(patch, Paint()))


def _of_last(arguments: list[str], do: Callable[[last.Last, Patch], None]) -> int:
    if arguments and not (len(arguments) == 1 and arguments[0].isdigit()):
        note("which fix? A number, as in: gradmend show 2")
        return USAGE
    try:
        kept = last.load()
        do(kept, kept.patch(int(arguments[0]) if arguments else 1))
    except last.NothingKept as error:
        note(str(error))
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        note(f"nothing was changed: {where}{(error.strerror or 'it cannot be written').lower()}")
        return 1
    return 0


def explain(arguments: list[str]) -> int:
    """`gradmend explain PATTERN`: the page about it, as text."""
    guide = guides().get(arguments[0]) if len(arguments) == 1 else None
    if guide is None:
        note("which pattern? One of: " + ", ".join(guides()))
        return USAGE
    print(f"{guide.title}\n\n{guide.lead}\n")
    for section in guide.sections:
        print(f"{section.heading + ': ' if section.heading else ''}{section.text}\n")
    for head, code in (("Broken", guide.broken), ("Fixed", guide.mended)):
        if code:
            print(f"{head}:\n")
            print("\n".join(f"    {line}" for line in code.splitlines()) + "\n")
    return 0
