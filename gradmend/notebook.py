"""`%load_ext gradmend`: under an autograd error in a notebook, its cause and the fixed cell.

The box has a button that replaces the faulty cell, if the page lets outputs do that, as JupyterLab
does. Everywhere, `%gradmend fix` puts the fixed cell in place of the one it is typed in;
`%gradmend run` also runs the cells in a sandbox, to test the fix.
"""

from __future__ import annotations

import difflib
import html
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gradmend.explaining import (
    Explanation,
    concerns_autograd,
    diagnosed,
    explanation_of,
)

STYLE = (
    "border:1px solid #8886;border-left:4px solid #c93;border-radius:4px;padding:.6em .9em;"
    "margin:.4em 0;font-family:system-ui,sans-serif"
)


@dataclass
class Ran:
    """A cell as it was last run: its source, and the number of its prompt."""

    source: str
    count: int


@dataclass(frozen=True)
class FixedCell:
    """A cell that a fix changes; `source` may be empty: what it held has moved."""

    count: int
    before: str
    source: str

    @property
    def diff(self) -> str:
        """Return what changes, without the heads of a diff between files."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.source.splitlines(), n=3, lineterm=""
        )
        return "\n".join(list(lines)[3:])


class CellHistory:
    """Keeps the history of the cells, and explains the errors that they raise."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: dict[str, Ran] = {}
        self._failure: tuple[str, str] | None = None
        self._fixed: list[FixedCell] = []
        for count, source in enumerate(shell.user_ns.get("In", [])):
            if source.strip():
                self._cells[source] = Ran(source, count)

    def ran(self, result: Any) -> None:
        """Record a cell that has been run, and explain its error."""
        info = result.info
        count = result.execution_count or self._shell.execution_count - 1
        self._cells[getattr(info, "cell_id", None) or info.raw_cell] = Ran(info.raw_cell, count)
        error = result.error_in_exec
        if error is not None and concerns_autograd(error):
            shown = self._shell.InteractiveTB
            stack = shown.structured_traceback(type(error), error, error.__traceback__)
            self._failure = (self._notebook(), shown.stb2text(stack))
            self._explain(run=False)

    def magic(self, line: str) -> None:
        """Handle `%gradmend fix` and `%gradmend run`."""
        word = line.strip()
        if word == "run" and self._failure is not None:
            self._explain(run=True)
        elif word == "fix" and self._fixed:
            first = next((cell for cell in self._fixed if cell.source), self._fixed[0])
            self._shell.set_next_input(first.source, replace=True)
            for cell in self._fixed:
                if cell is not first:
                    print(f"In [{cell.count}] changes, too:\n{cell.diff}")
        elif word in ("fix", "run"):
            print("gradmend: no autograd error was explained yet.")
        else:
            print("gradmend: say `%gradmend fix` or `%gradmend run`.")

    def _notebook(self) -> str:
        """Return the cells as a notebook, in the order of their first run."""
        cells = [
            {
                "cell_type": "code",
                "execution_count": cell.count,
                "metadata": {},
                "outputs": [],
                "source": cell.source,
            }
            for cell in self._cells.values()
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    def _explain(self, *, run: bool) -> None:
        assert self._failure is not None
        notebook, printed = self._failure
        explanation = explanation_of(diagnosed("-", printed, run=run, text=notebook))
        if explanation is None:
            return
        self._fixed = list(self._changed(notebook, explanation))
        parts = {"text/plain": self._plain(explanation), "text/html": self._box(explanation)}
        self._shell.display_pub.publish(parts)

    def _changed(self, notebook: str, explanation: Explanation) -> Iterator[FixedCell]:
        if not explanation.diff:
            return
        patched = json.loads(explanation.findings["patches"][0]["script"])["cells"]
        for before, after in zip(json.loads(notebook)["cells"], patched, strict=True):
            source = "".join(after["source"])
            if source != before["source"]:
                yield FixedCell(before["execution_count"], before["source"], source)

    def _where(self, explanation: Explanation) -> str:
        """Return the location as the notebook shows it: the prompt's number, the line in the
        cell."""
        spot = explanation.findings["causes"][0]["location"]
        cells = list(self._cells.values())
        if spot["cell"] is None:
            return f"{spot['file']}, line {spot['line']}: {spot['code']}"
        number, line = (int(part.split()[-1]) for part in spot["cell"].split(","))
        return f"In [{cells[number - 1].count}], line {line}: {spot['code']}"

    def _said(self, explanation: Explanation) -> str:
        """Return the summary, with cells numbered by their prompts, as everywhere in the
        message."""
        cells = list(self._cells.values())

        def prompt(found: re.Match[str]) -> str:
            number = int(found[1])
            return f"In [{cells[number - 1].count}]" if number <= len(cells) else found[0]

        return re.sub(r"\bcell (\d+)", prompt, explanation.summary)

    def _live(self, explanation: Explanation) -> str:
        """Return what the name that kept the graph holds now."""
        carrier = explanation.findings["causes"][0]["carrier"]
        value = self._shell.user_ns.get(carrier["name"]) if carrier else None
        torch: Any = sys.modules.get("torch")
        values = value if isinstance(value, (tuple, list)) else (value,)
        graphs = [v.grad_fn.name() for v in values if torch and torch.is_tensor(v) and v.grad_fn]
        if not carrier or not graphs:
            return ""
        return f"{carrier['name']} has a graph now: {', '.join(dict.fromkeys(graphs[:4]))}"

    def _plain(self, explanation: Explanation) -> str:
        lines = [
            f"gradmend: {self._said(explanation)}",
            f"  {self._where(explanation)}",
            f"  {self._live(explanation)}",
        ]
        for cell in self._fixed:
            lines += [f"{_proof(explanation)}, In [{cell.count}]:", cell.diff]
        if self._fixed:
            lines.append("%gradmend fix puts it into the next cell.")
        return "\n".join(line for line in lines if line.strip())

    def _box(self, explanation: Explanation) -> str:
        def text(value: str) -> str:
            return html.escape(value)

        parts = [
            f"<b>gradmend</b> {text(self._said(explanation))}",
            f"<code>{text(self._where(explanation))}</code>",
        ]
        parts += [text(live)] if (live := self._live(explanation)) else []
        for cell in self._fixed:
            parts.append(f"{text(_proof(explanation))}, In [{cell.count}]:")
            parts.append(f"<pre>{''.join(_coloured(cell.diff))}</pre>{_button(cell)}")
        if self._fixed:
            parts.append("<code>%gradmend fix</code> replaces the cell that it is typed in.")
        inner = "".join(f"<div>{part}</div>" for part in parts)
        acts = f"<script>{_script()}</script>" if self._fixed else ""
        return f'<div style="{STYLE}">{inner}{acts}</div>'


def _proof(explanation: Explanation) -> str:
    return "Tested fix" if explanation.tested else "Probable fix, not tested"


def _button(cell: FixedCell) -> str:
    """Return a button that stays hidden on pages without scripts, or with isolated outputs."""
    before, source = (html.escape(text) for text in (cell.before, cell.source))
    return (
        f'<button type="button" hidden data-before="{before}" data-source="{source}">'
        f"Replace cell [{cell.count}]</button>"
    )


@cache
def _script() -> str:
    return (files("gradmend") / "replace_cell.js").read_text("utf-8")


def _coloured(diff: str) -> Iterator[str]:
    colours = {"+": "#3a72", "-": "#c332"}
    for line in diff.splitlines():
        style = f"background:{colours[line[0]]}" if line[:1] in colours else ""
        yield f'<div style="{style}">{html.escape(line) or "&nbsp;"}</div>'


def load(shell: Any) -> None:
    """Load the extension."""
    watcher = CellHistory(shell)
    shell.events.register("post_run_cell", watcher.ran)
    shell.register_magic_function(watcher.magic, "line", "gradmend")
    shell.user_ns_hidden["_gradmend"] = watcher


def unload(shell: Any) -> None:
    """Unload the extension."""
    watcher = shell.user_ns_hidden.pop("_gradmend", None)
    if watcher is not None:
        shell.events.unregister("post_run_cell", watcher.ran)
