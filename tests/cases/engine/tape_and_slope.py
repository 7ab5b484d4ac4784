# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: this entry was played back
# expect: carrier = slope
# expect: engine = custom
import math
import random


class Var:
    def __init__(self, v, tape, parents=()):
        self.v, self.g, self.tape, self.parents, self.gone = v, 0.0, tape, parents, False
        if parents:
            tape.entries.append(self)

    def __add__(self, o):
        o = o if isinstance(o, Var) else Var(o, self.tape)
        return Var(self.v + o.v, self.tape, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, Var) else Var(o, self.tape)
        return Var(self.v * o.v, self.tape, ((self, o.v), (o, self.v)))

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.v))
        return Var(s, self.tape, ((self, s * (1 - s)),))

    def push(self):
        if self.gone:
            raise RuntimeError("this entry was played back before and is no longer on the tape")
        for parent, slope in self.parents:
            if parent.gone:
                raise RuntimeError("this entry was played back before and is no longer on the tape")
            parent.g += slope * self.g


class Tape:
    def __init__(self):
        self.entries = []

    def backward(self, loss):
        loss.g = 1.0
        for entry in reversed(self.entries):
            entry.push()
        for entry in self.entries:
            entry.gone, entry.parents = True, ()
        self.entries.clear()


def fit(points, epochs, lr):
    tape = Tape()
    w1, w2, b = Var(0.3, tape), Var(-0.2, tape), Var(0.0, tape)
    slope = (w1 * 0.5 + w2 * 0.25).sigmoid()  # expect: place
    for epoch in range(epochs):
        error = Var(0.0, tape)
        for x, y in points:
            miss = slope * x + b + (-y)  # expect: place
            error = error + miss * miss
        tape.backward(error)  # expect: place
        for p in (w1, w2, b):
            p.v -= lr * p.g
            p.g = 0.0
        print(epoch, round(error.v, 4))
    return w1, w2, b


random.seed(0)
learnt = fit([(random.random(), random.random()) for _ in range(6)], 3, 0.1)
