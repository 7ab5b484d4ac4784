"""The command that runs a script with its user's own data."""

from __future__ import annotations

import shlex

from app.present.notes import quotes_nothing
from app.request.case import Case

HOW = (
    "Run it where your data is: install Gradmend there, and put `gradmend run --` before "
    "your usual command. It reports the cause, and tests the fix with your data."
)


def command(case: Case) -> str:
    """Return the command to copy; the script has the name that its own traceback gives it."""
    own = (
        [f for f in case.traceback.frames if not f.is_library]
        if case.traceback and not quotes_nothing(case)
        else []
    )
    named = own[0].file if own and own[0].file.endswith(".py") else case.project.entry
    entry = named.rpartition("/")[2] or case.project.entry
    return f"gradmend run -- python {shlex.quote(entry)}"
