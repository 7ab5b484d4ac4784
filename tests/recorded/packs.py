"""Recordings on disk: one archive for each pattern or test file, one member for each case.

While tests record, each member is a file of its own below `.cache`, so that several processes can
record at once and what was recorded survives an interruption; `gather` packs them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.recorded.digests import RECORDINGS, ROOT, digest_of

PACKS = ROOT / RECORDINGS
LOOSE = ROOT / ".cache/recordings"
_EPOCH = (2020, 1, 1, 0, 0, 0)  # equal members are equal bytes


@dataclass(frozen=True)
class Run:
    """What was asked, what the answer was, and the digest of what made it."""

    request: dict[str, Any]
    answer: dict[str, Any]
    made_by: str


Member = dict[str, Run]
"""The runs of a test, or of tests that share them, by the digest of their request."""


@dataclass(frozen=True, order=True)
class Address:
    """Where a test's runs are: the names of a pack (`corpus/recurrent_state`) and of a member."""

    pack: str
    member: str

    def __str__(self) -> str:
        return f"{self.pack}: {self.member}"

    @property
    def loose(self) -> Path:
        """The member as a file of its own."""
        return LOOSE / self.pack / f"{digest_of(self.member)}.zip"


def load(address: Address) -> Member:
    """Return a member, the one of this recording before a packed one; empty if there is none."""
    if address.loose.is_file():
        with zipfile.ZipFile(address.loose) as archive:
            return _unpacked(archive.read(address.member))
    archive, names = _opened(address.pack)
    return _unpacked(archive.read(address.member)) if address.member in names else {}


def save(address: Address, member: Member) -> None:
    """Write a member as a file of its own, whole or not at all."""
    address.loose.parent.mkdir(parents=True, exist_ok=True)
    unfinished = address.loose.with_suffix(".part")
    _write(unfinished, {address.member: _packed(member)})
    unfinished.rename(address.loose)


def addresses() -> list[Address]:
    """Return every packed member, sorted."""
    return [
        Address(pack, name)
        for path in sorted(PACKS.rglob("*.zip"))
        for pack in [path.relative_to(PACKS).with_suffix("").as_posix()]
        for name in sorted(_opened(pack)[1])
    ]


def gather() -> int:
    """Move every loose member to its pack; return how many there were."""
    loose: dict[str, dict[str, bytes]] = {}
    paths = sorted(LOOSE.rglob("*.zip"))
    for path in paths:
        pack = path.parent.relative_to(LOOSE).as_posix()
        with zipfile.ZipFile(path) as archive:
            loose.setdefault(pack, {}).update({n: archive.read(n) for n in archive.namelist()})
    for pack, members in loose.items():
        archive, names = _opened(pack)
        kept = {name: archive.read(name) for name in names}
        _replace(PACKS / f"{pack}.zip", kept | members)
    for path in paths:
        path.unlink()
    _opened.cache_clear()
    return len(paths)


def prune(asked: Mapping[Address, set[str]]) -> int:
    """Leave only runs that a whole session asked for in the packs; return how many went."""
    gone = 0
    kept: dict[str, dict[str, bytes]] = {}
    for address in addresses():
        member, wanted = load(address), asked.get(address, set())
        left = {key: run for key, run in member.items() if key in wanted}
        gone += len(member) - len(left)
        kept.setdefault(address.pack, {}).update({address.member: _packed(left)} if left else {})
    for pack, members in kept.items():
        _replace(PACKS / f"{pack}.zip", members)
    _opened.cache_clear()
    return gone


@cache
def _opened(pack: str) -> tuple[Any, frozenset[str]]:
    path = PACKS / f"{pack}.zip"
    if not path.is_file():
        return None, frozenset()
    archive = zipfile.ZipFile(path)
    return archive, frozenset(archive.namelist())


def _packed(member: Member) -> bytes:
    """Return it as JSON, equal for equal members."""
    runs = {key: [run.request, run.answer, run.made_by] for key, run in sorted(member.items())}
    return json.dumps(runs, separators=(",", ":")).encode()


def _unpacked(packed: bytes) -> Member:
    return {key: Run(*parts) for key, parts in json.loads(packed).items()}


def _replace(path: Path, members: dict[str, bytes]) -> None:
    if not members:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path.with_suffix(".part"), members)
    path.with_suffix(".part").rename(path)


def _write(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in sorted(members.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_LZMA
            archive.writestr(entry, content)
