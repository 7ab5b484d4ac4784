"""A fresh environment that holds the built wheel, torch, and nothing else.

Packages are links to this interpreter's own: only what the wheel and torch declare becomes visible.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def build_wheel(folder: Path) -> Path:
    """The project's wheel, built from its sources as they are."""
    source = folder / "source"
    for name in ("gradmend", "app", "analyzers", "provenance", "sandbox"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run([sys.executable, *words], cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def fresh(folder: Path, wheel: Path, *, torch: bool = True) -> Path:
    """The environment; its `bin`."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    declared = distribution_in(packages).requires or []
    wanted = [line for line in declared if "extra ==" not in line]
    for one in _closure([*wanted, *(["torch"] if torch else [])]):
        _link(one, packages)
    program = folder / "bin/gradmend"
    main = "from gradmend.command import main\nmain()\n"
    program.write_text(f"#!{folder}/bin/python\n{main}")
    program.chmod(0o755)
    return folder / "bin"


def distribution_in(packages: Path) -> Distribution:
    """The wheel's own metadata."""
    return Distribution.at(next(packages.glob("gradmend-*.dist-info")))


def _closure(requirements: list[str]) -> Iterator[Distribution]:
    """The distributions that these requirements name, and those that they name in turn."""
    pending, seen = list(requirements), set()
    while pending:
        line = pending.pop()
        found = _NAME.match(line)
        name = found[0].lower().replace("_", "-") if found else ""
        if name in seen or "extra ==" in line:
            continue
        seen.add(name)
        try:
            one = distribution(name)
        except PackageNotFoundError:  # for another platform or version of Python
            continue
        pending += one.requires or []
        yield one


def _link(one: Distribution, packages: Path) -> None:
    for top in {file.parts[0] for file in one.files or [] if file.parts[0] != ".."}:
        if top != "__pycache__" and not (packages / top).exists():
            (packages / top).symlink_to(str(one.locate_file(top)))
