"""`gradmend` with a clock that can be moved: `python -m tests.clocked FILE ARGUMENT…`.

FILE holds by how many seconds the clock is ahead, and is read whenever the service asks for the
time of day. Clocks that only measure how long something takes go on undisturbed, as they do when a
machine's clock is set.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any


def moved(file: Path) -> type[datetime]:
    """A `datetime` whose `now` is ahead by what the file says."""

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=float(file.read_text() or 0))

    return Moved


def main() -> None:
    """Exchange the clock of every module of the service, then start it."""
    import app.cli
    import app.jobs.process
    import app.main

    clock = moved(Path(sys.argv.pop(1)))
    for name, module in list(sys.modules.items()):
        if name.startswith("app.") and vars(module).get("datetime") is datetime:
            vars(module)["datetime"] = clock
    app.cli.main()


if __name__ == "__main__":
    main()
