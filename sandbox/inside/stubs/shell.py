"""Commands of a shell, which the walls do not have: they end well and print nothing."""

from __future__ import annotations

import io
import os
import subprocess
from typing import Any

from .finding import Report
from .synthesized import asked_by_user


def install(report: Report) -> None:
    """Stub commands of a shell, which the walls do not have.

    They succeed and print nothing, except for the size of a terminal.
    """

    def answer(command: Any) -> str:
        words = command if isinstance(command, str) else " ".join(map(str, command))
        if asked_by_user():
            report("subprocess", f"commands are not run: `{words.split(' ')[0][:40]}`")
        return "24 80\n" if "stty" in words else ""

    def popen(command: Any, *args: Any, **kwargs: Any) -> Any:
        return io.StringIO(answer(command))

    def run(command: Any, *args: Any, **kwargs: Any) -> Any:
        printed = answer(command)
        text = kwargs.get("text") or kwargs.get("universal_newlines")
        output: Any = printed if text else printed.encode()
        return subprocess.CompletedProcess(command, 0, output, type(output)())

    os_: Any = os
    process: Any = subprocess
    os_.popen, process.run = popen, run
    os_.system = process.call = process.check_call = lambda *a, **k: run(*a, **k).returncode
    process.check_output = lambda *a, **k: run(*a, **k).stdout
    process.getoutput = lambda command, **k: answer(command)
