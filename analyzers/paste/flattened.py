"""Indentation for code that was pasted without any: what Python's grammar leaves open is decided by
how training scripts are written.

A header is followed by its body. Where a body ends is shown by what cannot stand in it: a method
after a method, code that uses the class above, the second loop over the same names, an `else`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import takewhile

from analyzers.paste.open_blocks import FlatLine, OpenBlock
from analyzers.paste.outline import (
    FUNCTIONS,
    called,
    differentiated,
    filled,
    handed_on,
    is_method,
    is_of_modules,
    is_update,
    kind,
    names,
    sets_mode,
    stepped,
)
from analyzers.paste.parsing import statement
from analyzers.source.targets import assigned

STEP = 4
MAX_LINES = 2_000
MAX_DEPTH = 20  # as many blocks as Python allows in each other
REACH = 60  # lines that are looked at ahead of one
_CLAUSES = {
    "elif": ("if", "elif"),
    "else": ("if", "elif", "for", "while", "except"),
    "except": ("try", "except"),
    "finally": ("try", "except", "else"),
}
_LOOPS = ("for", "while")
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_UNRECORDED = ("no_grad", "inference_mode", "set_grad_enabled(False)")


def restored(lines: Sequence[FlatLine]) -> list[int]:
    """Return a column for each line of a piece of code that has lost its indentation; zeros where
    there are too many lines, or blocks in each other.
    """
    levels = _Restorer(lines).levels() if len(lines) <= MAX_LINES else [0] * len(lines)
    return [STEP * level for level in levels]


class _Restorer:
    """Goes through the lines with the blocks that are open, outermost first."""

    def __init__(self, lines: Sequence[FlatLine]) -> None:
        self.lines = lines
        self.nodes = [statement(line.text) or ast.Pass() for line in lines]
        self.module = OpenBlock(FlatLine("", header=True))
        self.known: set[str] = set()
        self.open: list[OpenBlock] = []

    def levels(self) -> list[int]:
        """Return how deep each line stands."""
        found: list[int] = []
        for at, (line, node) in enumerate(zip(self.lines, self.nodes, strict=True)):
            if at > 0 and not self.lines[at - 1].header:
                del self.open[self._level(at) :]
            if len(self.open) > MAX_DEPTH:
                return [0] * len(self.lines)
            found.append(len(self.open))
            above = self.open[-1] if self.open else self.module
            above.add(node)
            if line.header:
                known, empty = frozenset(self.known), frozenset(above.begins)
                self.open.append(OpenBlock(line, node, known, empty))
            self.known.update(assigned(node))
        return found

    def _level(self, at: int) -> int:
        """Return in how many of the open blocks this line stands."""
        word = self.lines[at].word
        if word in _CLAUSES:
            return max(self._innermost(*_CLAUSES[word]), 0)
        while self.open and isinstance(self.open[-1].last, _ENDS):
            self.open.pop()
        node = self._defined(at)
        match node:
            case ast.Import() | ast.ImportFrom() | ast.ClassDef():
                return 0
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._of_function(node, at)
            case ast.If() if "__name__" in ast.unparse(node.test):
                return 0
            case ast.Return() if not (self.open and self._needs(self.open[-1], at)):
                return self._innermost("def", "async") + 1
        if self.lines[at].blank > 1:
            return 0
        return min((rule(self, node, at) for rule in _RULES), default=len(self.open))

    def _defined(self, at: int) -> ast.stmt:
        """Return the statement of a line; of a decorator, the function or class below it."""
        while self.lines[at].word == "@" and at + 1 < len(self.nodes):
            at += 1
        return self.nodes[at]

    def _innermost(self, *words: str) -> int:
        """Return the place of the innermost open block of this kind; -1 if there is none."""
        places = [at for at, block in enumerate(self.open) if block.line.word in words]
        return places[-1] if places else -1

    def _of_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, at: int) -> int:
        """A method stands in the class above; a closure that is given to an optimizer's step or
        returned, in the block that it is made in; any other function is the module's own."""
        if self.open and any(node.name in handed_on(one) for one in self.nodes[at : at + REACH]):
            return len(self.open)
        above = self.lines[max(at - 1, 0) : at + 1]
        is_static = any(line.text.startswith(("@staticmethod", "@classmethod")) for line in above)
        return self._innermost("class") + 1 if is_static or is_method(node) else 0

    def _needs(self, block: OpenBlock, at: int) -> bool:
        """Whether this line, or one behind it before another block begins, uses a name that only
        the block sets."""
        own = block.sets - block.known
        for node, line in zip(self.nodes[at : at + REACH], self.lines[at:], strict=False):
            if own & names(node):
                return True
            if line.header or not own:
                break
        return False

    def _before_definitions(self, at: int) -> list[ast.stmt]:
        """Return the statements from here to the next function or class."""
        ahead = self.nodes[at : at + REACH]
        return [*takewhile(lambda one: not isinstance(one, (*FUNCTIONS, ast.ClassDef)), ahead)]

    def _leads_to(self, name: str, at: int) -> bool:
        """Whether a class is used soon, and no line until then belongs to a method."""
        for node in self._before_definitions(at):
            if isinstance(node, ast.Return) or "self" in names(node):
                return False
            if name in called(node):
                return True
        return False


def _users(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """What uses a class or function stands outside it, and so does what leads to that without a
    word of the object's own."""
    for level, block in enumerate(reader.open):
        if isinstance(block.node, FUNCTIONS) and block.node.name in called(node):
            return level
        if isinstance(block.node, ast.ClassDef):
            if reader._leads_to(block.node.name, at):
                return level
            if level == len(reader.open) - 1 and isinstance(block.last, FUNCTIONS):
                return level  # a method has ended, and no other follows
    return len(reader.open)


def _second_loops(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """A second loop over the same names follows the first, or a change of the model's mode does."""
    for level, block in enumerate(reader.open):
        if isinstance(node, ast.For) and isinstance(block.node, ast.For):
            if names(block.node.target) == names(node.target) != {"_"}:
                return level
    return reader._innermost(*_LOOPS) if sets_mode(node) else len(reader.open)


def _sections(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """A loop in a loop that trains one model ends at the empty line or comment behind which another
    model is trained."""
    loops = [n for n, block in enumerate(reader.open) if block.line.word in _LOOPS]
    if len(loops) > 1 and reader.lines[at].blank and (done := reader.open[loops[-1]].steps):
        due = {name for one in reader._before_definitions(at) for name in stepped(one)}
        return loops[-1] if due and not due & done else len(reader.open)
    return len(reader.open)


def _reports(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """What names the outer loop's counter alone, to print or to decide, follows the inner loop."""
    loops = [n for n, block in enumerate(reader.open) if isinstance(block.node, ast.For)]
    if len(loops) < 2 or not (isinstance(node, ast.If) or "print" in called(node)):
        return len(reader.open)
    outer, inner = (names(reader.open[n].node.target) for n in loops[-2:])  # type: ignore[union-attr]
    named = names(node)
    return loops[-1] if named & outer and not named & inner else len(reader.open)


def _sums(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """What uses a sum or a list that a loop fills follows the loop."""
    for level, block in enumerate(reader.open):
        sums = block.adds & block.empty
        if block.line.word in _LOOPS and sums & names(node) and not sums & filled(node):
            return level
    return len(reader.open)


def _parameters(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """A loop over parameters, or over layers that it calls, ends where they are not named."""
    match reader.open[-1].node if reader.open else None:
        case ast.For(target=target, iter=iterated):
            items = names(target)
            applied = items & reader.open[-1].calls
            if (applied or is_of_modules(iterated)) and not items & names(node):
                return len(reader.open) - 1
    return len(reader.open)


def _conditions(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """The body of a condition holds one statement, and those behind it that are like it, unless an
    `else` follows."""
    level = len(reader.open)
    while level and (block := reader.open[level - 1]).line.word in ("if", "elif", "else"):
        if "__name__" in block.line.text:
            break
        waits = block.line.word != "else" and _has_clause(reader.lines[at : at + REACH])
        if waits or block.last is None or kind(block.last) == kind(node):
            break
        if reader._needs(block, at):
            break
        level -= 1
    return level


def _unrecorded(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """A loss whose backward follows is not computed under `no_grad`, nor what it is made of."""
    level = reader._innermost("with")
    if level < 0 or not any(mark in reader.open[level].line.text for mark in _UNRECORDED):
        return len(reader.open)
    following = reader._before_definitions(at)
    needed = {name for one in following for name in differentiated(one)}
    for one in reversed(following):
        needed |= names(one) if needed.intersection(assigned(one)) else set()
    leaves = needed & (reader.open[level].sets | {*assigned(node)} | names(node))
    return level if leaves else len(reader.open)


def _carried(reader: _Restorer, node: ast.stmt, at: int) -> int:
    """The backward of what a loop computes from itself follows the loop."""
    soon = {name for one in reader.nodes[at : at + 2] for name in differentiated(one)}
    level = reader._innermost(*_LOOPS)
    if level >= 0 and is_update(node) and soon & reader.open[level].adds:
        return level
    return len(reader.open)


_RULES: tuple[Callable[[_Restorer, ast.stmt, int], int], ...] = (
    _users,
    _second_loops,
    _sections,
    _reports,
    _sums,
    _parameters,
    _conditions,
    _unrecorded,
    _carried,
)
"""Each returns in how many of the open blocks a statement stands, as far as it can say."""


def _has_clause(lines: Sequence[FlatLine]) -> bool:
    """Whether an `elif` or `else` follows before another block begins."""
    for line in lines:
        if line.word in ("elif", "else"):
            return True
        if line.header:
            return False
    return False
