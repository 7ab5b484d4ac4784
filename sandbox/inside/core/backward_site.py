"""Who made a backward call: cheap to record, formatted only on demand."""

from __future__ import annotations

from dataclasses import dataclass, field

from .call_stack import CallStack
from .frames import Json


@dataclass(slots=True, kw_only=True)
class TracedBackward:
    """One call of `backward` or `autograd.grad`. `names` are those of the root tensor."""

    n: int
    iteration: int
    kind: str
    retain: bool
    create_graph: bool
    standing: CallStack
    names: list[str] = field(default_factory=list)

    def record(self) -> Json:
        """Return the call as a record."""
        stack = self.standing.stack()
        return {
            "n": self.n,
            "at": stack[-1] if stack else {"file": "", "line": 0},
            "stack": stack,
            "library": self.standing.libraries(),
            "iteration": self.iteration,
            "kind": self.kind,
            "retain": self.retain,
            "create_graph": self.create_graph,
            "root": self.names[:8],
        }

    def fault(self) -> Json:
        """Return the fields of a fault that was found during the call."""
        record = self.record()
        return {"at": record["at"], "call": record}

    def line(self) -> str:
        """Return the location of the call: `train.py:12`."""
        return self.standing.line()

    def alone(self) -> TracedBackward:
        """Return the same without references to the graph."""
        return TracedBackward(
            n=self.n,
            iteration=self.iteration,
            kind=self.kind,
            retain=self.retain,
            create_graph=self.create_graph,
            standing=self.standing,
            names=self.names,
        )
