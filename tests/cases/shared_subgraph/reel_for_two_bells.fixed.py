"""Two bells cast from one alloy: pitch and decay learnt from one hidden layer, on a reel of one's own."""
import numpy as np


class Node:
    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)


class Reel:
    """Notes each operation; `play` goes through them from the last to the first."""

    def __init__(self, rewinds=False):
        self.rewinds = rewinds
        self.steps = []
        self.played = False

    def note(self, data, *moves):
        out = Node(data)
        self.steps.append((out, moves))
        return out

    def play(self, loss):
        if self.played and not self.rewinds:
            raise ValueError("the reel has been played")
        self.played = True
        for out, moves in self.steps:
            out.grad = np.zeros_like(out.data)
        loss.grad = np.ones_like(loss.data)
        for out, moves in reversed(self.steps):
            for node, move in moves:
                node.grad = node.grad + move(out.grad)
        if not self.rewinds:
            self.steps = []


def times(reel, x, w):
    return reel.note(x.data @ w.data, (x, lambda g: g @ w.data.T), (w, lambda g: x.data.T @ g))


def squash(reel, x):
    y = np.tanh(x.data)
    return reel.note(y, (x, lambda g: g * (1 - y * y)))


def error(reel, x, wanted):
    gap = x.data - wanted
    return reel.note((gap ** 2).mean(), (x, lambda g: g * 2 * gap / gap.size))


def descend(nodes, rate):
    for node in nodes:
        node.data = node.data - rate * node.grad
        node.grad = np.zeros_like(node.data)


rng = np.random.default_rng(8)
alloy = rng.normal(size=(40, 5))
pitch, decay = np.sin(alloy[:, :1]), alloy[:, 1:2] * alloy[:, 2:3]
cast = Node(0.4 * rng.normal(size=(5, 10)))
to_pitch, to_decay = Node(0.4 * rng.normal(size=(10, 1))), Node(0.4 * rng.normal(size=(10, 1)))

for pour in range(20):
    reel = Reel(rewinds=True)
    body = squash(reel, times(reel, Node(alloy), cast))
    flat = error(reel, times(reel, body, to_pitch), pitch)
    dull = error(reel, times(reel, body, to_decay), decay)
    reel.play(flat)
    reel.play(dull)
    descend([cast, to_pitch, to_decay], 0.1)
    if pour % 5 == 0:
        print(pour, float(flat.data), float(dull.data))
