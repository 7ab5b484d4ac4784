"""The cases of `tests/cases`, for those who want a file to run.

    python -m tests.corpus list [WORD]
    python -m tests.corpus show NAME
    python -m tests.corpus extract NAME [--to DIR]
    python -m tests.corpus store NAME --from DIR

`extract` writes a case and its repairs as files, each program in a folder of its own; `store` puts
such a folder back into the pattern's sheet, as a new case or in the place of the old one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.case_files import ROOT, Case, load_cases
from tests.case_folders import extract, section_of
from tests.sheets import Section, SheetError, sections, stored, written


def main(words: list[str] | None = None, root: Path = ROOT) -> int:
    """Run one command; return 0, or 1 where it says what went wrong."""
    options = _parser().parse_args(words)
    try:
        if options.command == "list":
            print(*(_row(case) for case in load_cases(root) if options.word in case.name), sep="\n")
        elif options.command == "show":
            print(written(_section(options.name, root)), end="")
        elif options.command == "extract":
            folder = options.to or Path(options.name.rpartition("/")[2])
            extract(_section(options.name, root), folder)
            print(f"{options.name} is in {folder}")
        else:
            _store(options.name, options.folder, root)
            print(f"{options.name} is in {_sheet(options.name, root)}")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _row(case: Case) -> str:
    repairs = f"{len(case.fixed)} fixed, {len(case.wrong)} wrong" if case.fixed else ""
    return f"{case.name:52}{case.pattern:26}{repairs}".rstrip()


def _sheet(name: str, root: Path) -> Path:
    folder, _, title = name.partition("/")
    if not (folder.isidentifier() and title.isidentifier()):
        raise SheetError(f"{name!r} is no name of a case, such as recurrent_state/lstm")
    return root / f"{folder}.md"


def _section(name: str, root: Path) -> Section:
    sheet = _sheet(name, root)
    there = sections(sheet.read_text("utf-8")) if sheet.exists() else []
    for section in there:
        if section.title == name.partition("/")[2]:
            return section
    raise SheetError(f"no case is named {name!r}; `list` names them")


def _store(name: str, folder: Path, root: Path) -> None:
    sheet = _sheet(name, root)
    text = sheet.read_text("utf-8") if sheet.exists() else f"# {sheet.stem}\n"
    sheet.write_text(stored(text, section_of(name.partition("/")[2], folder)), "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.corpus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="name the cases, and how many repairs are known")
    listing.add_argument("word", nargs="?", default="", help="those whose name contains this")
    showing = commands.add_parser("show", help="print a case as it stands in its sheet")
    taking = commands.add_parser("extract", help="write a case and its repairs as files")
    taking.add_argument("--to", type=Path, metavar="DIR", help="an empty folder, or a new one")
    storing = commands.add_parser("store", help="put a folder of files into its sheet")
    storing.add_argument("--from", type=Path, metavar="DIR", dest="folder", required=True)
    for command in (showing, taking, storing):
        command.add_argument("name", help="such as recurrent_state/lstm")
    return parser


if __name__ == "__main__":
    sys.exit(main())
