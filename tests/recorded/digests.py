"""What a recording depends on, as digests."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRACER = ("sandbox/inside",)
"""What decides on a run's records."""
PROBE = ("tests/probe.py", "benchmarks/plain.py")
RECORDINGS = "tests/recordings/"
_COMPUTED = "GRADMEND_TESTS_"  # and the name of a digest: an environment variable
SIZE = 20  # hexadecimal digits: no two of a million keys are equal


def digest_of(value: Any) -> str:
    """Return the digest of a value that JSON can hold, whatever the order of its keys."""
    return _digest([json.dumps(value, sort_keys=True).encode()])


def tracer_digest() -> str:
    """Return the digest of the tracer and of the versions that it runs under."""
    return _once("TRACER", lambda: _digest([*_code(TRACER), *_versions()]))


def probe_digest() -> str:
    """Return the digest of the probe of plain runs and of the versions that it runs under."""
    return _once("PROBE", lambda: _digest([*_code(PROBE), *_versions()]))


def tree_digest() -> str:
    """Return the digest of every file of the tree, committed or not, but recordings, which live
    tests renew; empty without Git."""
    return _once("TREE", _tree_digest)


def _once(name: str, compute: Callable[[], str]) -> str:
    """Return a digest that stays the same while a process and the workers that it starts record;
    these compute none that it has computed."""
    variable = f"{_COMPUTED}{name}"
    if variable not in os.environ:
        os.environ[variable] = compute()
    return os.environ[variable]


def _tree_digest() -> str:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        return ""
    names = {name for name in listed.stdout.decode().split("\0") if name}
    paths = sorted(ROOT / name for name in names if not name.startswith(RECORDINGS))
    parts = (part for path in paths if path.is_file() for part in (bytes(path), path.read_bytes()))
    return _digest(parts)


def in_turn(name: str) -> str:
    """Return a sort key: an order that is another one in each tree, for samples."""
    return digest_of([tree_digest(), name])


def _code(places: Iterable[str]) -> Iterable[bytes]:
    """Yield each module as its syntax: comments, docstrings and layout change no result."""
    for place in places:
        path = ROOT / place
        for module in [path] if path.is_file() else sorted(path.rglob("*.py")):
            yield module.relative_to(ROOT).as_posix().encode()
            yield ast.dump(_bare(ast.parse(module.read_bytes()))).encode()


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())), *rest])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())), *rest])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), *rest])
                | ast.AsyncFunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), *rest])
            ):
                node.body = rest
    return tree


def _versions() -> list[bytes]:
    python = ".".join(map(str, sys.version_info[:2]))
    torch = version("torch").partition("+")[0]  # the builds for CPU and CUDA compute the same
    return [f"python {python}, torch {torch}, numpy {version('numpy')}".encode()]


def _digest(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()[:SIZE]
