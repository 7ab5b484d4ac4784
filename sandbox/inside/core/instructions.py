"""What a frame does next with the result of the call that it is in, by its instructions."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FrameType


@lru_cache(maxsize=1024)
def instructions(code: CodeType) -> dict[int, dis.Instruction]:
    """Return the instructions of a code object by their offsets."""
    return {one.offset: one for one in dis.get_instructions(code)}


def current(frame: FrameType) -> dis.Instruction | None:
    """Return the instruction that a frame is at."""
    return instructions(frame.f_code).get(frame.f_lasti)


def following(frame: FrameType, most: int = 2) -> list[dis.Instruction]:
    """Return the next instructions after the one that the frame is at."""
    listed = instructions(frame.f_code)
    later = sorted(offset for offset in listed if offset > frame.f_lasti)
    return [listed[offset] for offset in later[:most]]


def bound_to(frame: FrameType) -> str:
    """Return the name that the frame binds the result of its current call to; "" for none."""
    later = following(frame, 1)
    bound = later[0].argval if later and later[0].opname.startswith("STORE_") else ""
    first = bound[0] if isinstance(bound, tuple) else bound  # Python 3.13 does two at once
    return first if isinstance(first, str) else ""


def drops_result(frame: FrameType) -> bool:
    """Return True if the frame drops the result of its current call: `net(x)`, `_ = net(x)`."""
    later = following(frame, 1)
    return bool(later) and (later[0].opname == "POP_TOP" or bound_to(frame).startswith("_"))
