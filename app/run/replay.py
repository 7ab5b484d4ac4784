"""Run a notebook's cells in an order other than from top to bottom."""

from __future__ import annotations

from analyzers.notebooks.notebook_text import Notebook
from sandbox.protocol import Job, RunResult, Session


class CellOrderSession:
    """A session that runs the cells of one notebook, patched or not, in the given order."""

    def __init__(self, session: Session, notebook: Notebook, order: tuple[int, ...]) -> None:
        self._session = session
        self._notebook = notebook
        self._order = order

    async def run(self, job: Job) -> RunResult:
        """Run the job's entry, cell by cell; not at all, if it has lost one of them."""
        try:
            spans = self._notebook.spans(job.files[job.entry], self._order)
        except KeyError as lost:
            return RunResult(status="unavailable", reason=f"cell {lost} is not in the script")
        return await self._session.run(job.model_copy(update={"spans": spans}))
