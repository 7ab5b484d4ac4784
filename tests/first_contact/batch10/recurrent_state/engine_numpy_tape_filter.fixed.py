"""A hand-written engine (scalars, arrays, one sweep per graph) fits the smoothing of a well's water level."""
import numpy as np


class TapeError(Exception):
    pass


class Node:
    def __init__(self, value, inputs=(), pull=None):
        self.value, self.inputs, self.pull = float(value), inputs, pull
        self.grad, self.swept = 0.0, False

    def __add__(self, other):
        return Node(self.value + other.value, (self, other), lambda g: (g, g))

    def __sub__(self, other):
        return Node(self.value - other.value, (self, other), lambda g: (g, -g))

    def __mul__(self, other):
        return Node(self.value * other.value, (self, other), lambda g: (g * other.value, g * self.value))


def sweep(root):
    order, seen = [], set()

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for i in node.inputs:
            visit(i)
        order.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(order):
        if node.pull is None:
            continue
        if node.swept:
            raise TapeError("node already swept")
        for i, g in zip(node.inputs, node.pull(node.grad)):
            i.grad += g
        node.swept, node.grad = True, 0.0


rng = np.random.default_rng(3)
alpha, bias = Node(0.3), Node(0.0)
one = Node(1.0)
level = Node(0.0)
for day in range(6):
    rain = rng.normal(size=12)
    error = Node(0.0)
    level = Node(level.value)
    for r in rain:
        level = alpha * Node(r) + (one - alpha) * level + bias
        miss = level - Node(0.5 * r)
        error = error + miss * miss
    sweep(error)
    for w in (alpha, bias):
        w.value -= 0.005 * w.grad
        w.grad = 0.0
    print(day, round(error.value, 4), round(alpha.value, 4), round(bias.value, 4))
