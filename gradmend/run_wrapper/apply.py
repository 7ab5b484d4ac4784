"""What can be asked of a run's result: `gradmend apply`, `show`, `explain`."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.messages import Message
from app.command.fixing import best, caveat, chosen, why_none
from app.command.options import USAGE, WORDS, Options
from app.present.guide import Guide, guides, nearest_name
from app.present.lookup import look_up
from gradmend.run_wrapper import last_result, report
from gradmend.run_wrapper.stderr import Paint, note

UNSAFE = "--unsafe-fixes"
APPLY = """\
usage: gradmend apply [--unsafe-fixes] [N]

Writes the fix that the last `gradmend run` in this folder found into your files: the best safe
one, or number N. With --unsafe-fixes also one that changes the training, and by its number one
that was not tested. One that failed a check is never written. After `gradmend train.py`, use
`gradmend train.py --fix`. Exit code: 0 written; 1 no such fix, or none that may be written;
64 wrong usage."""
SHOW = """\
usage: gradmend show [N]

Shows the best fix of the last `gradmend run` in this folder, or fix N, with its checks.
After `gradmend train.py`, use `gradmend train.py --diff`. Exit code: 0; 1 no such fix; 64 wrong
usage."""
EXPLAIN = """\
usage: gradmend explain [GM011 | recurrent-state | MESSAGE]

Prints the page about a kind of fault: by its id, its name, or an error's message. Without an
argument it lists them all."""


def apply(arguments: list[str]) -> int:
    """Handle `gradmend apply [--unsafe-fixes] [N]`: write the fix into the files."""
    unsafe = UNSAFE in arguments
    rest = [word for word in arguments if word != UNSAFE]

    def write(kept: last_result.Last, number: int | None) -> None:
        options = Options(
            (), fix=number or 1, chosen=number is not None, unsafe=unsafe, switches=WORDS
        )
        if number is not None:
            kept.patch(number)
        patch = chosen(kept.findings, options)
        if patch is None:
            raise last_result.NothingKept(
                f"nothing was changed: {why_none(kept.findings, options)}"
            )
        report.one_patch(patch, Paint())
        note(f"changed {', '.join(last_result.write(kept, patch))}{caveat(patch)}")

    return _of_last("apply", APPLY, rest, write)


def show(arguments: list[str]) -> int:
    """Handle `gradmend show [N]`: print a fix of the last run with its checks."""

    def shown(kept: last_result.Last, number: int | None) -> None:
        patches = kept.findings.patches if number is None else []
        patch = best(patches) or best(patches, unsafe=True) or kept.patch(number or 1)
        report.one_patch(patch, Paint())

    return _of_last("show", SHOW, arguments, shown)


def _of_last(
    word: str, text: str, arguments: list[str], do: Callable[[last_result.Last, int | None], None]
) -> int:
    if _asks_for_help(arguments):
        print(text)
        return 0
    if arguments and not (len(arguments) == 1 and arguments[0].isdigit()):
        note(f"which fix? A number, as in: gradmend {word} 2")
        return USAGE
    try:
        do(last_result.load(), int(arguments[0]) if arguments else None)
    except last_result.NothingKept as error:
        note(str(error))
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        note(f"nothing was changed: {where}{(error.strerror or 'it cannot be written').lower()}")
        return 1
    return 0


def _asks_for_help(arguments: list[str]) -> bool:
    return not {"-h", "--help"}.isdisjoint(arguments)


def _no_name(asked: str) -> str:
    meant = nearest_name(asked)
    return f"there is no pattern {asked}{f', did you mean {meant}?' if meant else ''}"


def explain(arguments: list[str]) -> int:
    """Handle `gradmend explain` with `GM011`, a pattern's name, or a message: print its page."""
    if _asks_for_help(arguments):
        print(EXPLAIN)
        return 0
    if not arguments:
        for guide in guides().values():
            print(f"{guide.id}  {guide.name:<24} {guide.title}")
        return 0
    asked = " ".join(arguments)
    found = look_up(asked)
    if not (found.patterns or found.messages):
        what = "no pattern: this is not an autograd error" if " " in asked else _no_name(asked)
        note(f"{what}; `gradmend explain` lists all patterns")
    if found.near:
        print("What may help:\n")
    for entry in (*found.messages, *found.near):
        _print_message(entry)
    if found.sure:
        _print(found.patterns[0])
    elif found.patterns:
        print("Patterns that such a message may come from:\n")
        for guide in found.patterns:
            print(f"{guide.id}  {guide.name:<24} {guide.title}")
    return 0 if found.patterns or found.messages else USAGE


def _print_message(entry: Message) -> None:
    print(f"{entry.title or entry.texts[0]}\n\n{entry.means}\n")
    for cause in entry.causes:
        print(f"- {cause.in_general()}")
    for wrong in entry.wrong:
        print(f"- Not: {wrong}")
    print()


def _print(guide: Guide) -> None:
    print(f"{guide.id} {guide.name}\n\n{guide.title}\n\n{guide.lead}\n")
    for section in guide.sections:
        print(f"{section.heading + ': ' if section.heading else ''}{section.text}\n")
    for head, code in (("Broken", guide.broken), ("Fixed", guide.mended)):
        if code:
            print(f"{head}:\n")
            print("\n".join(f"    {line}" for line in code.splitlines()) + "\n")
