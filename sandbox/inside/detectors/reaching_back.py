"""Finds calls of one line that reach ever more of what earlier calls have reached."""

from __future__ import annotations

from ..core.engine import Call
from ..core.frames import Json
from ..core.stamps import Stamps
from .graph_depth import GraphDepth
from .retained_graphs import RetainedGraphs, old_names

HOLDERS = 32  # that are recorded


class ReachingBack:
    """Measures retained graphs that grow from call to call at one line."""

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._deepening = GraphDepth()
        self._retained = RetainedGraphs()
        self._found = False

    def at_line_of(self, call: Call) -> bool:
        """Return True if the calls at this line reach ever more nodes."""
        return self._deepening.walks_more(call.line())

    def after(self, call: Call) -> Json | None:
        """Return the fields of a fault, if this call shows one: what holds the graphs, and how many
        nodes each call reached."""
        if not call.retain:
            return None
        begun = call.n - 1
        oldest = self._stamps.oldest(call.walk.nodes)
        reach = begun - oldest if oldest is not None else 0
        line = call.line()
        if figures := self._deepening.after(line, len(call.walk.nodes), reach):
            self._found = True
            carriers = self._retained.carriers(line, call.roots)
            known = {held["path"] for held in carriers}
            others = [held for held in old_names(call) if held["path"] not in known]
            return {"holders": [*carriers, *others][:HOLDERS], "figures": figures}
        if self._deepening.walks_more(line) and not self._found:
            self._retained.look(line, call.frame)
        return None
