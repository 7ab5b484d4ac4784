"""Notebooks for tests, written as Jupyter writes them."""

from __future__ import annotations

import json
from typing import Any


def code(source: str, count: int | None = None, error: str = "") -> dict[str, Any]:
    """A code cell; `error` is the last line of an error that it left in its outputs."""
    name, _, message = error.partition(": ")
    outputs = [{"output_type": "error", "ename": name, "evalue": message, "traceback": []}]
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": outputs if error else [],
        "source": source.splitlines(keepends=True),
    }


def notebook(*cells: str | dict[str, Any], **layout: Any) -> str:
    """The JSON of a notebook; cells given as text are code that was never run."""
    made = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    layout = {"indent": 1, "ensure_ascii": False, **layout}
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, **layout)


def sources(text: str) -> list[str]:
    """The source of each cell of a notebook's JSON."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
