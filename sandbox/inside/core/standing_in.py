"""Calls something from a frame that shows the names of another.

What torch, or a decorator, looks up in "the frame two above" must be there although a tracer stands
between: TorchScript finds in it what the methods of a class mention.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

_CALL = compile("'called'.__call__()", __file__, "eval")


def call_as(frame: FrameType, called: Any) -> Any:
    """Call `called`, which is not Python code, as if `frame` did."""
    constants = tuple(called if c == "called" else c for c in _CALL.co_consts)
    code = _CALL.replace(co_consts=constants, co_name=frame.f_code.co_name)
    return eval(code, frame.f_globals, frame.f_locals)
