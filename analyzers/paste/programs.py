"""Pieces of a thread that belong together: a model and its loop, or one version and the next."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from analyzers.paste.outline import differentiated, names
from analyzers.paste.parsing import statement
from analyzers.paste.reading import Piece

MAX_PROGRAMS = 12
TORCH = "import torch"
_INSTEAD = re.compile(r"\b(?:instead|alternatively|rather)\b", re.IGNORECASE)


@dataclass(slots=True)
class Program:
    """Pieces that may be one program: their statements, what they define and bind at their margin,
    every name that occurs in them, and those on which `backward` is called. `raised`: an error is
    quoted after one of them; `replaced`: a sentence after them says “instead”."""

    pieces: list[Piece] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    differentiated: set[str] = field(default_factory=set)
    raised: bool = False
    replaced: bool = False

    def takes(self, other: Program) -> bool:
        """Return True if the next piece continues this one, rather than restating it."""
        if self.defined & other.defined:
            return False
        if TORCH in other.defined and not self.defined & other.used:
            return False  # a head of its own, and nothing of what stands above it
        if self.raised and self.differentiated & other.differentiated & other.bound:
            return False  # that was tried before
        if self.replaced and self.differentiated & other.differentiated:
            return False  # the other way of the same backward
        restated = sum(text in self.statements for text in other.statements)
        if restated > 1 and 2 * restated > len(other.statements):
            return False
        again = len(self.bound & other.bound)
        return again == 0 or 2 * again < len(other.bound)

    def add(self, other: Program) -> None:
        self.pieces += other.pieces
        self.statements += other.statements
        self.defined |= other.defined
        self.bound |= other.bound
        self.used |= other.used
        self.differentiated |= other.differentiated


def programs(
    pieces: Sequence[Piece], errors: Collection[int] = (), lines: Sequence[str] = ()
) -> list[Program]:
    """Return the programs of a text, in order. A piece that imports torch again, defines the same,
    or mostly restates statements or names, is another version; so is one that makes a loss again
    and calls backward on it, if an error (at lines of these indexes) follows the first. One with a
    head of its own, that uses nothing of what is above, is another program, and a backward that
    the lines between call the other way of doing the same is another version.
    """
    found: list[Program] = []
    for piece in pieces:
        following = _program(piece)
        begins = piece.code[0].line.first
        if found:
            ended = found[-1].pieces[-1].code[-1].line.last
            found[-1].raised |= any(ended < at < begins for at in errors)
            found[-1].replaced |= any(map(_INSTEAD.search, lines[ended + 1 : begins]))
        if found and found[-1].takes(following):
            found[-1].add(following)
        else:
            found.append(following)
    return found[:MAX_PROGRAMS]


def _program(piece: Piece) -> Program:
    program = Program([piece])
    margin = min(code.column() for code in piece.code)
    for code in piece.code:
        node = statement(code.text)
        if node is not None:
            for kind, name in _names(node):
                if kind == "bound":
                    program.bound.add(name)
                elif code.column() == margin:
                    program.defined.add(name)
            program.statements.append(_outline(node))
            program.used |= names(node)
            program.differentiated |= differentiated(node)
    return program


def _outline(node: ast.stmt) -> str:
    """Return a statement's source; of a call as a statement without its arguments."""
    match node:
        case ast.Expr(value=ast.Call(func=func)):
            return ast.unparse(func)
    return ast.unparse(node)


def _names(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield "defined", name
        case ast.Import(names=aliases) if any(alias.name == "torch" for alias in aliases):
            yield "defined", TORCH
        case ast.Assign(targets=targets):
            for target in targets:
                for inner in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(inner, ast.Name):
                        yield "bound", inner.id
