"""The batches that were measured at first contact, in `benchmarks/first_contact.tar.xz`.

    python -m benchmarks.archive list
    python -m benchmarks.archive show batch28/recurrent_state/evolving_weights
    python -m benchmarks.archive extract batch146 --to DIR
    python -m benchmarks.archive add DIR

A batch is a folder of sheets (`tests/sheets.py`): one a pattern, or a single `pasted.md`. Those
below `held_out` were never asked. `add` takes such a folder in, or replaces the batch of its name;
what was held out and has been measured moves so. `benchmarks/first_contact_batches.md` says more.
"""

from __future__ import annotations

import argparse
import io
import lzma
import random
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from benchmarks.pasted import items
from tests.case_files import Case, cases_of, put_down
from tests.sheets import Section, sections, written

ARCHIVE = Path(__file__).with_name("first_contact.tar.xz")
MEASURED, HELD_OUT = "measured", "held_out"
PASTED = "pasted.md"


@cache
def batches(archive: Path = ARCHIVE) -> Mapping[str, Mapping[str, str]]:
    """Return the sheets of every batch by their names, each batch by its path in the archive
    (`measured/batch146`), in the order of their numbers."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(archive, "r:xz") as tar:
        for member in tar:
            if (content := tar.extractfile(member)) is not None:
                path = PurePosixPath(member.name)
                found.setdefault(str(path.parent), {})[path.name] = content.read().decode()
    return dict(sorted(found.items(), key=lambda batch: _number(batch[0])))


def sheets(batch: str, archive: Path = ARCHIVE) -> Mapping[str, str]:
    """Return the sheets of a batch by their names: of a folder, or else of the archive's batch of
    this name. Raise `SystemExit` where there is neither."""
    if Path(batch).is_dir():
        return {path.name: path.read_text("utf-8") for path in sorted(Path(batch).glob("*.md"))}
    for path, found in batches(archive).items():
        if PurePosixPath(path).name == batch:
            return found
    raise SystemExit(f"{batch} is neither a folder of sheets nor a batch; `list` names the batches")


def cases(batch: str) -> list[Case]:
    """Return the scripts of a batch, sorted by name."""
    found = [
        case
        for name, text in sheets(batch).items()
        if name != PASTED
        for case in cases_of(name.removesuffix(".md"), text)
    ]
    return sorted(found, key=lambda case: case.name)


def again(number: int) -> list[Case]:
    """Return so many scripts of the measured batches, drawn always alike."""
    measured = [path for path in batches() if path.startswith(MEASURED)]
    every = [case for path in measured for case in cases(PurePosixPath(path).name)]
    random.Random(16).shuffle(every)
    return every[:number]


def section(name: str) -> Section:
    """Return the section of a script (`batch28/recurrent_state/lstm`) or of a pasted text
    (`batch72/frag_01`). Raise `SystemExit` where there is none."""
    batch, _, rest = name.partition("/")
    sheet, _, title = rest.rpartition("/")
    for one in sections(sheets(batch).get(f"{sheet}.md" if sheet else PASTED, "")):
        if one.title == title:
            return one
    raise SystemExit(f"{batch} holds no {rest}; `extract {batch}` writes what it holds")


def add(folder: Path, held_out: bool, archive: Path = ARCHIVE) -> None:
    """Put a folder of sheets into the archive, in the place of a batch of its name. Raise
    `SheetError` where one of them cannot be read."""
    name, found = folder.resolve().name, sheets(str(folder))
    known = items(found[PASTED]) if PASTED in found else cases(str(folder))
    if not known:
        raise SystemExit(f"{folder} holds no sheet")
    kept = {path: batch for path, batch in batches(archive).items() if Path(path).name != name}
    write({**kept, f"{HELD_OUT if held_out else MEASURED}/{name}": found}, archive)


def write(kept: Mapping[str, Mapping[str, str]], archive: Path = ARCHIVE) -> None:
    """Write an archive of these batches: the same bytes for the same sheets."""
    preset = 9 | lzma.PRESET_EXTREME
    with lzma.open(archive, "w", preset=preset) as packed, tarfile.open(None, "w", packed) as tar:
        for path in sorted(kept, key=_number):
            for sheet, text in sorted(kept[path].items()):
                content = text.encode()
                member = tarfile.TarInfo(f"{path}/{sheet}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    batches.cache_clear()


def _number(path: str) -> tuple[int, str]:
    digits = "".join(c for c in PurePosixPath(path).name if c.isdigit())
    return int(digits or 0), path


def main() -> None:
    """Run one command."""
    options = _parser().parse_args()
    if options.command == "list":
        for path, found in batches().items():
            count = sum(len(sections(text)) for text in found.values())
            print(f"{path:24}{count:>4} {'pasted' if PASTED in found else 'scripts'}")
    elif options.command == "show":
        print(written(section(options.name)), end="")
    elif options.command == "extract":
        put_down(sheets(options.batch), options.to)
    else:
        add(options.folder, options.held_out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="archive", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the batches, and how much is in each")
    showing = commands.add_parser(
        "show", help="print a script, or a pasted text, as its sheet has it"
    )
    showing.add_argument("name", help="such as batch28/recurrent_state/lstm, or batch72/frag_01")
    extracting = commands.add_parser("extract", help="write the sheets of a batch")
    extracting.add_argument("batch", help="such as batch146")
    extracting.add_argument("--to", type=Path, metavar="DIR", required=True)
    adding = commands.add_parser("add", help="take in a folder of sheets")
    adding.add_argument("folder", type=Path)
    adding.add_argument("--held-out", action="store_true", help="it was never asked")
    return parser


if __name__ == "__main__":
    main()
