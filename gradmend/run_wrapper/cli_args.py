"""What is asked for on the command line of `gradmend run`."""

from __future__ import annotations

from dataclasses import dataclass

HELP = """\
usage: gradmend run [options] -- COMMAND [ARGUMENTS]

Runs the command unchanged. If it ends with an autograd error, prints the cause and runs the command
again with the fix in memory. Changes none of your files; sends nothing from this machine.
Exit code: the command's own; 127 no such command; 64 wrong usage.

  gradmend run -- python train.py --lr 1e-3
  gradmend run -- python -m package.train
  gradmend run -- torchrun --nproc_per_node 2 train.py
  gradmend run -- pytest tests/test_model.py::test_step

options:
  --check       also report faults that raise no error, such as parameters that do not learn and
                graphs that grow; if there are none, print what was checked
  --strict      with --check: exit code 1 if a fault was found
  --no-rerun    print the cause and the fix, and run nothing again
  --rerun       run again even if files that C code writes cannot be kept apart
  --steps N     backward calls in a repeated run (default: a few past the one that failed), without
                a time limit
  --patient     try fixes without a time limit (default: 60 s)
  --format json print the findings as the last line of standard output; also --json
  --against REV compare the training with that of the sources in a git revision; neither run changes
                your files. Exit code: 0 same, 1 changed or broken, 2 not comparable. With
                --steps N: optimizer steps to compare (default: 20)
  --share URL   send the trace and its sources to a Gradmend server, and print the address

afterwards: gradmend apply [N], gradmend show N, gradmend explain PATTERN
"""


class ArgumentsError(Exception):
    """The command line cannot be understood; the message says what to write."""


@dataclass(frozen=True)
class RunArguments:
    """The options, and the command with its arguments."""

    command: tuple[str, ...] = ()
    check: bool = False
    strict: bool = False
    patient: bool = False
    rerun: bool | None = None
    steps: int | None = None
    json: bool = False
    share: str | None = None
    against: str | None = None
    help: bool = False

    @property
    def waits(self) -> bool:
        """Return True if the user waits for repeated runs as long as it takes."""
        return self.patient or self.steps is not None


def parse(arguments: list[str]) -> RunArguments:
    """Parse options up to `--`, or up to the first argument that is none; the rest is the
    command."""
    given: dict[str, object] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word, _, value = rest.pop(0).partition("=")
        match word:
            case "--":
                break
            case "-h" | "--help":
                return RunArguments(help=True)
            case "--check" | "--json" | "--rerun" | "--strict" | "--patient":
                given[word[2:]] = True
            case "--format":
                given["json"] = _format(value or _next(word, rest))
            case "--no-rerun":
                given["rerun"] = False
            case "--steps":
                given["steps"] = _number(value or _next(word, rest))
            case "--share" | "--against":
                given[word[2:]] = value or _next(word, rest)
            case _:
                raise ArgumentsError(
                    f"{word} is no option of `gradmend run`; see gradmend run --help"
                )
    if given.get("strict") and not given.get("check"):
        raise ArgumentsError("--strict is for --check: add that, or leave --strict out")
    if not rest:
        raise ArgumentsError("which command? For example: gradmend run -- python train.py")
    return RunArguments(command=tuple(rest), **given)  # type: ignore[arg-type]


def _next(word: str, rest: list[str]) -> str:
    if not rest:
        raise ArgumentsError(f"{word} wants a value")
    return rest.pop(0)


def _format(text: str) -> bool:
    """Return True if findings are to be printed as JSON."""
    if text not in ("json", "text"):
        raise ArgumentsError(f"--format wants json or text, not {text!r}")
    return text == "json"


def _number(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentsError(f"--steps wants a whole number from 1 on, not {text!r}")
    return int(text)
