# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: reverse sweep reached
# expect: carrier = self.running, ctl.running
# expect: engine = custom
from __future__ import annotations

import math
import random
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    value: float
    edges: list[tuple["Node", float]] = field(default_factory=list)
    adjoint: float = 0.0
    swept: bool = False

    def __add__(self, other):
        other = lift(other)
        return Node(self.value + other.value, [(self, 1.0), (other, 1.0)])

    def __sub__(self, other):
        return self + lift(other) * -1.0

    def __mul__(self, other):
        other = lift(other)
        return Node(self.value * other.value, [(self, other.value), (other, self.value)])

    def tanh(self):
        t = math.tanh(self.value)
        return Node(t, [(self, 1 - t * t)])

    def backward(self):
        order: list[Node] = []
        seen: set[int] = set()

        def sort(n: Node):
            if id(n) not in seen:
                seen.add(id(n))
                for m, _ in n.edges:
                    sort(m)
                order.append(n)

        sort(self)
        self.adjoint = 1.0
        for n in reversed(order):
            if n.swept:
                raise RuntimeError("reverse sweep reached a node twice; rebuild the expression first")
            for m, d in n.edges:
                m.adjoint += n.adjoint * d
            n.swept = bool(n.edges)


def lift(x):
    return x if isinstance(x, Node) else Node(float(x))


@dataclass
class EMAController:
    """Tracks a running target for a small policy."""

    gain: Node
    bias: Node
    running: Node = field(default_factory=lambda: Node(0.0))

    def act(self, obs):
        return (self.gain * obs + self.bias).tanh()

    def learn(self, obs, goal, lr=0.05):
        action = self.act(obs)
        self.running = self.running * 0.9 + action * 0.1  # expect: place
        miss = action - goal
        loss = miss * miss + (action - self.running) * (action - self.running) * 0.1
        for p in (self.gain, self.bias):
            p.adjoint = 0.0
        loss.backward()  # expect: place
        for p in (self.gain, self.bias):
            p.value -= lr * p.adjoint
        return loss.value


random.seed(0)
ctl = EMAController(Node(0.5), Node(0.0))
for t in range(6):
    print(t, round(ctl.learn(random.uniform(-1, 1), 0.3), 4))
