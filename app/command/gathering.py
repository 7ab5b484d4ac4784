"""A script's project from the disk: the modules that it imports, the data files that it names."""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from analyzers.notebooks.notebook import NotANotebookError, is_notebook, to_project
from app.request.uploads import FILES_LIMIT, MOST_FILES, as_file, decoded
from app.schemas import SourceFile

LONGEST_NAME = 200  # characters of a text that may name a file
_UNREADABLE = (OSError, ValueError, RecursionError, MemoryError)  # ValueError: a NUL byte


@dataclass
class Gathered:
    """What goes along with a script. `origin` leads from a path of the project to the disk.

    `left_out` are files that the project needs and that no longer fit; `unread` are those that
    are no Python, so that nobody knows what they hold.
    """

    files: dict[str, SourceFile] = field(default_factory=dict)
    origin: dict[str, Path] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, placed: PurePosixPath, path: Path) -> str | None:
        """Take a file along; its text, where it is a module that was not there before."""
        name = str(placed)
        if name in self.files or not path.is_file():
            return None
        if len(self.files) == MOST_FILES or self.size + path.stat().st_size > FILES_LIMIT:
            self.left_out.append(name)
            return None
        data = path.read_bytes()
        self.size += len(data)
        self.files[name], self.origin[name] = as_file(name, data), path
        return decoded(name, data) if path.suffix == ".py" else None


def gather(
    script: Path, text: str, root: Path, *, args: Iterable[str] = (), data: bool = True
) -> Gathered:
    """What `script` imports, and what that imports, and so on; with `data`, also the files that
    its texts and arguments name. `root` is the directory that the script is started in."""
    found = Gathered()
    home = script.resolve().parent
    places = list(_places(home, root))
    entry = _placed(script.resolve(), root)
    pending = [(text, entry, home)]
    while pending:
        source, placed, folder = pending.pop()
        tree = _tree(source)
        if tree is None:
            found.unread.append(str(placed))
            tree = ast.Module([], [])
        for module, path in _imported(tree, placed, folder, places):
            taken = found.add(module, path) if module != entry else None
            if taken is not None:
                pending.append((taken, module, path.parent))
        if data:
            for path in _named(tree, args, (root, folder)):
                found.add(_placed(path, root), path)
    return found


def _placed(path: Path, root: Path) -> PurePosixPath:
    """Where a file stands in the project."""
    if path.is_relative_to(root):
        return PurePosixPath(path.relative_to(root).as_posix())
    return PurePosixPath(path.name)


def _tree(source: str) -> ast.Module | None:
    """Return the syntax tree of a module or a notebook; None if there is none."""
    try:
        return ast.parse(to_project(source)[0] if is_notebook(source) else source)
    except (SyntaxError, NotANotebookError, *_UNREADABLE):
        return None


def _places(home: Path, root: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """Folders that modules are found in, in Python's order, each with its place in the project:
    its own where a run looks there by itself, else the project's root."""
    own = [home, root, *(above for above in home.parents if above.is_relative_to(root))]
    own += [above / "src" for above in dict.fromkeys(own)]
    for folder in dict.fromkeys(own):
        if folder.is_relative_to(root):
            yield folder, PurePosixPath(folder.relative_to(root).as_posix())
        else:
            yield folder, PurePosixPath()
    for folder in (*_from_environment(root), *_declared(root)):
        if folder not in own:
            yield folder, PurePosixPath()


def _from_environment(root: Path) -> Iterator[Path]:
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if entry:
            yield (root / entry).resolve()


def _declared(root: Path) -> Iterator[Path]:
    """Return the folders in which pyproject.toml lets setuptools look for packages."""
    try:
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        tool = settings["tool"]["setuptools"]
        folders = [
            *tool.get("packages", {}).get("find", {}).get("where", []),
            *tool.get("package-dir", {}).values(),
        ]
    except (*_UNREADABLE, KeyError, AttributeError):
        return
    for folder in folders:
        if isinstance(folder, str):
            yield (root / folder).resolve()


def _imported(
    tree: ast.Module,
    placed: PurePosixPath,
    folder: Path,
    places: list[tuple[Path, PurePosixPath]],
) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files that a module's imports load: packages' `__init__.py` included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name.split("."), places)
        elif isinstance(node, ast.ImportFrom):
            base = places
            if node.level:
                base = [_above(folder, placed.parent, node.level - 1)]
            parts = node.module.split(".") if node.module else []
            yield from _module(parts, base)
            for alias in node.names:
                yield from _module([*parts, alias.name], base)


def _above(folder: Path, placed: PurePosixPath, levels: int) -> tuple[Path, PurePosixPath]:
    for _ in range(levels):
        folder, placed = folder.parent, placed.parent
    return folder, placed


def _module(
    parts: list[str], places: Iterable[tuple[Path, PurePosixPath]]
) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of a dotted module in the first folder that has any of it."""
    for folder, placed in places:
        first = folder / parts[0] if parts else folder
        if parts and not first.is_dir() and not first.with_suffix(".py").is_file():
            continue
        for n in range(len(parts) + 1):
            inner = PurePosixPath(*parts[:n])
            if n or not parts:
                yield placed / inner / "__init__.py", folder / inner / "__init__.py"
            if n:
                yield placed / f"{inner}.py", folder / f"{inner}.py"
        return


def _named(tree: ast.Module, args: Iterable[str], folders: Iterable[Path]) -> Iterator[Path]:
    """The project's files that texts of a module, or the arguments, name."""
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    root, *_ = folders = tuple(folders)
    for text in (*texts, *args):
        if 0 < len(text) <= LONGEST_NAME and text.isprintable():
            for folder in folders:
                path = (folder / text).resolve()
                if path.is_relative_to(root) and path.suffix not in (".py", "") and path.is_file():
                    yield path
                    break
