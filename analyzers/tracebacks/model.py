"""What a traceback says."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.evidence import Family


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """One frame; `line` is 0 where it was not printed. `cell` is a notebook's execution count."""

    file: str
    line: int = 0
    function: str = ""
    code: str = ""
    is_library: bool = False
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class TracebackPart:
    """One traceback of a chain; frames are outermost first."""

    exception: str = ""
    message: str = ""
    frames: tuple[TracebackFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedTraceback:
    """The error of a pasted text.

    `forward_frames`: anomaly mode's stack of the forward call that made the failing node, which
    `forward_op` names. `kind`: the kind within its family, as in the catalogue of messages.
    `other_errors`: families and kinds of the text's other known errors: earlier ones, or later
    attempts. `prose_only`: prose mentions it, without the traceback that raised it. `warnings`:
    what Python warned of.
    """

    exception: str = ""
    message: str = ""
    family: Family = "other"
    kind: str | None = None
    frames: tuple[TracebackFrame, ...] = ()
    forward_frames: tuple[TracebackFrame, ...] = ()
    forward_op: str = ""
    other_errors: tuple[tuple[Family, str | None], ...] = ()
    prose_only: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def location(self) -> TracebackFrame | None:
        """Return the user's innermost frame; without one, the innermost of all."""
        own = [frame for frame in self.frames if not frame.is_library]
        candidates = own or list(self.frames)
        return candidates[-1] if candidates else None

    @property
    def code(self) -> str:
        """Return the line that raised it; empty where it is not known."""
        return self.frames[-1].code if self.frames else ""

    @property
    def forward(self) -> TracebackFrame | None:
        """Return the user's innermost frame of the forward call, in anomaly mode."""
        own = [frame for frame in self.forward_frames if not frame.is_library]
        candidates = own or list(self.forward_frames)
        return candidates[-1] if candidates else None
