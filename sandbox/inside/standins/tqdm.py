"""Progress bars that pass their items through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from .nothing import Nothing, NothingModule

PROVIDES = ("tqdm",)


class Bar(Nothing):
    """The interface of a bar; iterating gives the items."""

    def __init__(self, iterable: Iterable[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        self._over = iterable
        self.n = 0
        self.total = kwargs.get("total")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._over if self._over is not None else ())

    def __len__(self) -> int:
        return len(self._over)  # type: ignore[arg-type]

    @classmethod
    def write(cls, text: str = "", *args: Any, **kwargs: Any) -> None:
        print(text)


def module(name: str) -> ModuleType:
    """`tqdm`, `tqdm.auto`, `tqdm.notebook`, …"""

    def trange(*numbers: int, **kwargs: Any) -> Bar:
        return Bar(range(*numbers), **kwargs)

    return NothingModule(name, tqdm=Bar, trange=trange, tqdm_notebook=Bar)
