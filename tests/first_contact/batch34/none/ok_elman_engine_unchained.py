# expect: pattern = none
"""Scalar-free little engine (lists of arrays on a tape) and an Elman net that counts open brackets.
The state is carried over chunks of a long string; the tape is new for each chunk."""
import numpy as np


class Tape:
    def __init__(self):
        self.entries = []
        self.used = False

    def record(self, backward):
        self.entries.append(backward)

    def backward(self, node):
        if self.used:
            raise RuntimeError("this tape has been played back already")
        self.used = True
        node.grad = np.ones_like(node.data)
        for entry in reversed(self.entries):
            entry()
        self.entries.clear()


class Node:
    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)


def affine(tape, x, w, b):
    out = Node(x.data @ w.data + b.data)

    def backward():
        x.grad += out.grad @ w.data.T
        w.grad += np.outer(x.data, out.grad)
        b.grad += out.grad

    tape.record(backward)
    return out


def add_tanh(tape, a, b):
    out = Node(np.tanh(a.data + b.data))

    def backward():
        g = out.grad * (1 - out.data ** 2)
        a.grad += g
        b.grad += g

    tape.record(backward)
    return out


def squared_error(tape, y, target, acc):
    d = y.data - target
    out = Node(acc.data + (d ** 2).sum())

    def backward():
        y.grad += 2 * d * out.grad
        acc.grad += out.grad

    tape.record(backward)
    return out


rng = np.random.default_rng(5)
H = 8
params = {
    "wx": Node(rng.normal(0, 0.5, (3, H))), "bx": Node(np.zeros(H)),
    "wh": Node(rng.normal(0, 0.3, (H, H))), "bh": Node(np.zeros(H)),
    "wy": Node(rng.normal(0, 0.3, (H, 1))), "by": Node(np.zeros(1)),
}


def stream(n):
    depth = 0
    for _ in range(n):
        move = rng.choice([-1, 0, 1]) if 0 < depth < 4 else (1 if depth == 0 else -1)
        depth += move
        yield np.eye(3)[move + 1], depth / 4


h = Node(np.zeros(H))
tape, loss, running = Tape(), Node(0.0), []
for i, (symbol, target) in enumerate(stream(600), 1):
    h = add_tanh(tape, affine(tape, Node(symbol), params["wx"], params["bx"]),
                 affine(tape, h, params["wh"], params["bh"]))
    loss = squared_error(tape, affine(tape, h, params["wy"], params["by"]), target, loss)
    if i % 15 == 0:
        tape.backward(loss)
        running.append(float(loss.data) / 15)
        for p in params.values():
            p.data -= 0.02 * np.clip(p.grad, -2, 2)
            p.grad[...] = 0
        # next chunk: values only
        tape, loss, h = Tape(), Node(0.0), Node(h.data)
print("first", round(np.mean(running[:5]), 4), "last", round(np.mean(running[-5:]), 4))
