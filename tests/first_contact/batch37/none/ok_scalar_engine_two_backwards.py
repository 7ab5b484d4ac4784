# expect: pattern = none
"""Minimal scalar autograd; threshold of a smoke detector. Two losses, two backward() calls that are meant to add up."""
import math
import random


class Scalar:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents

    @staticmethod
    def wrap(v):
        return v if isinstance(v, Scalar) else Scalar(v)

    def __add__(self, other):
        other = Scalar.wrap(other)
        return Scalar(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = Scalar.wrap(other)
        return Scalar(self.data * other.data, ((self, other.data), (other, self.data)))

    __radd__, __rmul__ = __add__, __mul__

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.data))
        return Scalar(s, ((self, s * (1 - s)),))

    def log(self):
        return Scalar(math.log(self.data), ((self, 1 / self.data),))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            for parent, _ in node.parents:
                visit(parent)
            order.append(node)

        visit(self)
        flow = {id(node): 0.0 for node in order}
        flow[id(self)] = 1.0
        for node in reversed(order):
            node.grad += flow[id(node)]
            for parent, local in node.parents:
                flow[id(parent)] += local * flow[id(node)]


class Detector:
    def __init__(self, n):
        self.w = [Scalar(random.gauss(0, 0.1)) for _ in range(n)]
        self.b = Scalar(0.0)

    def __call__(self, x):
        return sum((w * v for w, v in zip(self.w, x)), self.b).sigmoid()

    def parameters(self):
        return [*self.w, self.b]


def readings(n):
    for _ in range(n):
        smoke = random.random() < 0.4
        yield [random.gauss(1.2 if smoke else 0.0, 0.6), random.gauss(0.8 if smoke else 0.0, 0.8)], smoke


random.seed(12)
detector = Detector(2)
memory = []
for step in range(25):
    for p in detector.parameters():
        p.grad = 0.0

    probs = [(detector(x), smoke) for x, smoke in readings(12)]
    missed = sum((-1.0 / 12 * p.log() for p, smoke in probs if smoke), Scalar(0.0))
    false_alarm = sum((-1.0 / 12 * (1 + -1 * p).log() for p, smoke in probs if not smoke), Scalar(0.0))
    missed.backward()
    false_alarm.backward()
    penalty = 0.01 * sum((w * w for w in detector.w), Scalar(0.0))
    penalty.backward()

    for p in detector.parameters():
        p.data -= 1.0 * p.grad
    memory.append(missed.data + false_alarm.data + penalty.data)
print([round(m, 3) for m in memory[::6]])
