"""The stack at a backward call: recorded at once, formatted when it is reported."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import CodeType, FrameType

from .frames import (
    OWNERS,
    PASSES_ON,
    RESUMED,
    TORCH_MODULES,
    USER,
    Activation,
    Json,
    activation,
    file_name,
    function_name,
    works,
)
from .positions import position_at

STACK, LIBRARIES = 40, 12

_getframe = sys._getframe


@dataclass(slots=True)
class CallStack:
    """Codes and instructions, innermost first; the user's with the number of the activation.

    `_libraries` are frames that the user's code called and that lead here, but for the engine's
    own (`torch/_tensor.py`, `torch/autograd`); those between two frames of the user (a trainer,
    an optimizer that calls a closure) are among them.
    """

    _users: list[tuple[CodeType, int, int]]
    _libraries: list[tuple[CodeType, int]]
    at: tuple[str, int] = "", 0  # file and line of the innermost of the user's

    def stack(self) -> list[Json]:
        """Return the user's frames, outermost first, at most the innermost 40."""
        return [self._place(*one) for one in self._users[:STACK][::-1]]

    def line(self) -> str:
        """Return the location of the innermost of the user's frames: `train.py:12`."""
        if not self._users:
            return ":0"
        code, instruction, _ = self._users[0]
        return f"{file_name(code.co_filename)}:{position_at(code, instruction)[0]}"

    @staticmethod
    def _place(code: CodeType, instruction: int, number: int) -> Json:
        line, column = position_at(code, instruction)
        return {
            "file": file_name(code.co_filename),
            "line": line,
            "function": function_name(code),
            "frame": number,
            "column": column,
        }

    def activations(self) -> list[int]:
        """Return the numbers of the user's frames, innermost first."""
        return [number for _, _, number in self._users[:STACK]]

    def libraries(self) -> list[str]:
        """Return libraries' frames, each as `torch/optim/lbfgs.py:421 in step`, innermost last."""
        return [
            f"{file_name(code.co_filename)}:{position_at(code, at)[0]} in {function_name(code)}"
            for code, at in self._libraries[:LIBRARIES][::-1]
        ]


def standing() -> tuple[FrameType | None, CallStack]:
    """Return the innermost frame of the user's below the caller's caller, and a note of it and
    its callers.

    While that frame is at the same instruction, by the same libraries, its callers are where they
    were: the last note holds.
    """
    frame = _getframe().f_back  # not `_getframe(3)`: of this function alone the guard asks nothing
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    below: list[tuple[CodeType, int]] = []
    while frame is not None and type(frame.f_trace) is not Activation:
        if TORCH_MODULES[frame.f_globals.get("__name__")] != PASSES_ON:
            code = frame.f_code
            if OWNERS[code.co_filename] is USER:
                break
            if works(code.co_filename):
                below.append((code, frame.f_lasti))
        frame = frame.f_back
    if frame is None:
        return None, CallStack([], [])
    mark, instruction = activation(frame), frame.f_lasti
    known = mark.standing
    if known is None or known[0] != instruction or known[1] != below:
        noted = _noted(frame, below)
        if frame.f_code.co_flags & RESUMED:  # by others, each time
            return frame, noted
        known = mark.standing = instruction, below, noted
    return frame, known[2]


def _noted(innermost: FrameType, below: list[tuple[CodeType, int]]) -> CallStack:
    users: list[tuple[CodeType, int, int]] = []
    libraries: list[tuple[CodeType, int]] = []
    since = [*below]  # the last frame of the user
    at = innermost.f_code.co_filename, innermost.f_lineno or 0
    frame: FrameType | None = innermost
    while frame is not None:
        code = frame.f_code
        if OWNERS[code.co_filename] is USER:
            users.append((code, frame.f_lasti, activation(frame).number))
            libraries += since
            since.clear()
        elif works(code.co_filename):
            since.append((code, frame.f_lasti))
        frame = frame.f_back
    return CallStack(users, libraries, at)
