"""Plots without a screen: the real library drawn into memory, or nothing where it is missing."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from . import Report
from .nothing import Nothing, NothingModule

PROVIDES = ("matplotlib", "seaborn")


def install(report: Report) -> None:
    """Choose the backend that opens no window, for when the script imports the library."""
    os.environ["MPLBACKEND"] = "Agg"


def subplots(rows: int = 1, columns: int = 1, **kwargs: Any) -> tuple[Nothing, Any]:
    """A figure, and one axes or as many as asked for."""
    if rows == columns == 1:
        return Nothing(), Nothing()
    row = [Nothing() for _ in range(max(rows, columns) if 1 in (rows, columns) else columns)]
    return Nothing(), row if 1 in (rows, columns) else [row for _ in range(rows)]


def module(name: str) -> ModuleType:
    """`matplotlib`, `matplotlib.pyplot`, …"""
    return NothingModule(name, subplots=subplots)
