"""A scalar engine with an explicit tape; each epoch records a new one."""
import math
import random


class Var:
    tape = []

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, 0.0
        if parents:
            Var.tape.append(self)

    @staticmethod
    def of(x):
        return x if isinstance(x, Var) else Var(float(x))

    def __add__(self, o):
        o = Var.of(o)
        return Var(self.value + o.value, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = Var.of(o)
        return Var(self.value * o.value, ((self, o.value), (o, self.value)))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, o):
        return self + (-Var.of(o))

    def tanh(self):
        t = math.tanh(self.value)
        return Var(t, ((self, 1 - t * t),))

    def backward(self):
        self.grad = 1.0
        for node in reversed(Var.tape):
            for parent, slope in node.parents:
                parent.grad += slope * node.grad
        Var.tape.clear()


class Unit:
    def __init__(self, n, rng):
        self.w = [Var(rng.uniform(-1, 1)) for _ in range(n)]
        self.b = Var(0.0)

    def __call__(self, xs):
        return sum((w * x for w, x in zip(self.w, xs)), self.b)

    def parameters(self):
        return [*self.w, self.b]


class Layered:
    def __init__(self, hidden, rng):
        self.hidden = [Unit(1, rng) for _ in range(hidden)]
        self.out = Unit(hidden, rng)

    def __call__(self, x):
        return self.out([u([x]).tanh() for u in self.hidden])

    def parameters(self):
        return [p for u in (*self.hidden, self.out) for p in u.parameters()]


def main():
    rng = random.Random(4)
    net = Layered(6, rng)
    points = [(x / 5, (x / 5) ** 2 - 0.5) for x in range(-5, 6)]
    for epoch in range(60):
        for p in net.parameters():
            p.grad = 0.0
        loss = Var(0.0)
        for x, y in points:
            d = net(x) - y
            loss = loss + d * d
        loss = loss * (1 / len(points))
        loss.backward()
        for p in net.parameters():
            p.value -= 0.2 * p.grad
        if epoch % 20 == 0:
            print(epoch, round(loss.value, 5))


main()
