"""Plots without a screen: the real library drawn into memory, or nothing where it is missing."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import torch

from . import Report
from .nothing import Nothing, NothingModule

PROVIDES = ("matplotlib", "seaborn")


def install(report: Report) -> None:
    """Choose the backend that opens no window, for when the script imports the library."""
    os.environ["MPLBACKEND"] = "Agg"


def _numbers(*drawn: Any) -> None:
    """What is drawn is read as numbers, which a tensor with a graph refuses."""
    for value in drawn:
        if isinstance(value, torch.Tensor) and value.requires_grad:
            value.numpy()
        elif isinstance(value, list | tuple):
            _numbers(*value)


def _drawing(self: Any, *drawn: Any, **kwargs: Any) -> Nothing:
    _numbers(*drawn)
    return Nothing()


class Line(Nothing):
    """A line whose numbers may be exchanged."""

    set_data = set_xdata = set_ydata = _drawing


class Axes(Nothing):
    """Axes whose calls return as many nothings as scripts unpack."""

    scatter = bar = barh = step = imshow = matshow = errorbar = fill_between = _drawing
    loglog = semilogx = semilogy = boxplot = contourf = pcolormesh = stem = _drawing

    def plot(self, *args: Any, **kwargs: Any) -> list[Nothing]:
        _numbers(*args)
        return [Line()]

    def hist(self, *args: Any, **kwargs: Any) -> tuple[Nothing, Nothing, Nothing]:
        _numbers(*args[:1])
        return Nothing(), Nothing(), Nothing()


class Grid(list[Any]):
    """A row of axes, or rows of them, indexed as an array is."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return super().__getitem__(key)
        row = super().__getitem__(key[0])
        return row[key[1]] if len(key) > 1 else row

    def ravel(self) -> Grid:
        return Grid(axes for row in self for axes in (row if isinstance(row, Grid) else [row]))

    flatten = ravel

    @property
    def flat(self) -> Grid:
        return self.ravel()


def subplots(nrows: int = 1, ncols: int = 1, **kwargs: Any) -> tuple[Nothing, Any]:
    """A figure, and one axes or as many as asked for."""
    if nrows == ncols == 1:
        return Nothing(), Axes()
    if 1 in (nrows, ncols):
        return Nothing(), Grid(Axes() for _ in range(max(nrows, ncols)))
    return Nothing(), Grid(Grid(Axes() for _ in range(ncols)) for _ in range(nrows))


def module(name: str) -> ModuleType:
    """`matplotlib`, `matplotlib.pyplot`, …"""
    axes = Axes()
    drawing = {call: getattr(axes, call) for call in vars(Axes) if not call.startswith("_")}
    return NothingModule(name, subplots=subplots, **drawing)
