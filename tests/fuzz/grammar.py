"""Random programs from a grammar of what training scripts, and traps for readers, are made of."""

from __future__ import annotations

import random
from collections.abc import Callable

NAMES = ("x", "h", "loss", "model", "opt", "self", "xs", "d", "f", "g", "i", "t", "None_", "C")
ATTRIBUTES = ("data", "grad", "h", "backward", "detach", "T", "shape", "append", "items", "step")
METHODS = (
    "backward", "detach", "item", "sum", "mean", "step", "zero_grad", "append", "pop", "items",
    "parameters", "to", "clone", "add_", "chunk", "update", "get", "requires_grad_", "forward",
)  # fmt: skip
LIBRARY = (
    "torch.tanh", "torch.zeros", "torch.stack", "torch.autograd.grad", "nn.Linear", "nn.LSTM",
    "nn.Parameter", "torch.optim.SGD", "range", "len", "zip", "enumerate", "list", "sum", "map",
    "deque", "partial", "isinstance", "getattr", "next", "torch.no_grad", "super", "tuple",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "**", "@", "//", "%", "&")
HEADER = (
    "import torch, functools\nimport torch.nn as nn\nfrom collections import deque\n"
    "from functools import partial, lru_cache\nfrom dataclasses import dataclass\n"
)


class Writer:
    """Writes one program from a seed; `depth` bounds nesting."""

    def __init__(self, seed: int, depth: int = 4) -> None:
        self.random = random.Random(seed)
        self.depth = depth

    def program(self) -> str:
        """A whole module."""
        return HEADER + self.block(0, self.random.randint(2, 12))

    def pick(self, *options: Callable[[int], str]) -> Callable[[int], str]:
        return self.random.choice(options)

    def name(self, depth: int = 0) -> str:
        return self.random.choice(NAMES)

    def number(self, depth: int = 0) -> str:
        return self.random.choice(("0", "1", "2", "-1", "3.5", "10**9", "True", "None", "'a'"))

    def expression(self, depth: int) -> str:
        """Any expression; simple ones once the depth is used up."""
        if depth >= self.depth:
            return self.pick(self.name, self.number)(depth)
        return self.pick(
            self.name,
            self.number,
            lambda d: (
                f"{self.expression(d + 1)} {self.random.choice(OPERATORS)} "
                f"({self.expression(d + 1)})"
            ),
            lambda d: f"{self.name()}.{self.random.choice(ATTRIBUTES)}",
            lambda d: f"{self.name()}.{self.random.choice(METHODS)}({self.arguments(d + 1)})",
            lambda d: f"{self.random.choice(LIBRARY)}({self.arguments(d + 1)})",
            lambda d: f"{self.name()}({self.arguments(d + 1)})",
            lambda d: f"{self.name()}[{self.index(d + 1)}]",
            lambda d: f"[{self.arguments(d + 1)}]",
            lambda d: f"({self.expression(d + 1)}, {self.expression(d + 1)})",
            lambda d: f"{{{self.number()}: {self.expression(d + 1)}}}",
            lambda d: f"[{self.expression(d + 1)} for {self.name()} in {self.expression(d + 1)}]",
            lambda d: f"(lambda *a, k={self.number()}: {self.expression(d + 1)})",
            lambda d: f"({self.expression(d + 1)} if {self.condition(d + 1)} else {self.name()})",
            lambda d: f"(yield_ := {self.expression(d + 1)})",
            lambda d: f"sum({self.expression(d + 1)} for i in {self.expression(d + 1)})",
        )(depth)

    def arguments(self, depth: int) -> str:
        given = [f"({self.expression(depth)})" for _ in range(self.random.randint(0, 3))]
        if self.random.random() < 0.2:
            given.append(f"*{self.name()}")
        return ", ".join(given)

    def index(self, depth: int) -> str:
        return self.pick(self.expression, lambda d: f"{self.number()}:", lambda d: "::2")(depth)

    def condition(self, depth: int) -> str:
        operator = self.random.choice(("==", "<", "is", "is not", "in", "and", "or"))
        return f"{self.expression(depth)} {operator} ({self.expression(depth)})"

    def target(self) -> str:
        return self.random.choice(
            (self.name(), f"{self.name()}.{self.random.choice(ATTRIBUTES)}", f"{self.name()}[0]",
             f"{self.name()}, {self.name()}", f"{self.name()}, *{self.name()}",
             f"{self.name()}[:, {self.name()}]")
        )  # fmt: skip

    def block(self, level: int, length: int) -> str:
        return "".join(self.statement(level) for _ in range(length))

    def statement(self, level: int) -> str:
        """One statement with its body, indented."""
        pad = "    " * level
        simple = self.random.random() < 0.5 + level * 0.12
        if simple or level > 4:
            return pad + self.simple() + "\n"
        body = self.block(level + 1, self.random.randint(1, 4))
        head = self.pick(
            lambda d: f"for {self.name()} in {self.expression(1)}:",
            lambda d: f"while {self.condition(2)}:",
            lambda d: f"if {self.condition(1)}:",
            lambda d: f"def {self.name()}({self.name()}1, k={self.number()}, *a, **kw):",
            lambda d: f"class C({self.random.choice(('', 'nn.Module', 'C', 'object'))}):",
            lambda d: f"with {self.expression(2)} as {self.name()}:",
            lambda d: "try:",
        )(0)
        text = f"{pad}{head}\n{body}"
        if head == "try:":
            text += f"{pad}except Exception as e:\n{pad}    {self.simple()}\n"
        elif head.startswith("if") and self.random.random() < 0.4:
            text += f"{pad}else:\n{pad}    {self.simple()}\n"
        return text

    def simple(self) -> str:
        return self.pick(
            lambda d: f"{self.target()} = {self.expression(0)}",
            lambda d: f"{self.name()} {self.random.choice(OPERATORS)}= {self.expression(1)}",
            lambda d: f"{self.name()}.{self.random.choice(METHODS)}({self.arguments(2)})",
            lambda d: f"{self.name()}.backward(retain_graph={self.number()})",
            lambda d: f"del {self.name()}",
            lambda d: "pass",
            lambda d: f"assert {self.expression(2)}",
        )(0)
