"""Starts the user's command as his shell would: same terminal, same signals, same exit code."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

NOT_FOUND, NOT_RUNNABLE = 127, 126
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # the whole foreground group gets these


class CommandError(Exception):
    """The command cannot be started; `code` is what a shell would leave with."""

    def __init__(self, why: str, code: int) -> None:
        super().__init__(why)
        self.code = code


def started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the command and return its process. Raise `CommandError`."""
    name = command[0]
    try:
        return subprocess.Popen(command, env=environment)
    except FileNotFoundError:
        if os.path.exists(name) and os.sep in name:
            raise CommandError(
                f"{name} is a script whose interpreter is not there", NOT_RUNNABLE
            ) from None
        raise CommandError(f"{name}: no such command{_hint(command)}", NOT_FOUND) from None
    except OSError as error:
        message = f"{name} cannot be run ({(error.strerror or 'unknown').lower()}){_hint(command)}"
        raise CommandError(message, NOT_RUNNABLE) from None


def _hint(command: Sequence[str]) -> str:
    if command[0].endswith(".py"):
        return f"; write: gradmend run -- python {' '.join(command)}"
    if command[0] == "python" and shutil.which("python3"):
        return "; here it is python3"
    return ""


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run it to its end; its return code, negative for a signal. Raises `CommandError`."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, frame: FrameType | None) -> None:
        if child is not None and number in _PASSED_ON:
            child.send_signal(number)

    before: dict[Any, Any] = {}
    for number in (*_PASSED_ON, *_FROM_TERMINAL):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            before[number] = signal.signal(number, pass_on)
    try:
        child = started(command, environment)
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_as(code: int) -> int:
    """Return the exit code to leave with; a command that a signal ended is followed in that."""
    sys.stdout.flush()
    sys.stderr.flush()
    if code >= 0:
        return code
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code
