"""Scalar engine whose backward clears what it walks: nothing to zero by hand."""
import random

random.seed(9)


class S:
    def __init__(self, v, kids=()):
        self.v, self.kids, self.d = v, kids, 0.0

    def __add__(self, o):
        o = o if isinstance(o, S) else S(o)
        return S(self.v + o.v, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, S) else S(o)
        return S(self.v * o.v, ((self, o.v), (o, self.v)))

    def relu(self):
        return S(max(self.v, 0.0), ((self, float(self.v > 0)),))

    def backward(self):
        order, seen = [], set()

        def visit(s):
            if s not in seen:
                seen.add(s)
                s.d = 0.0
                for kid, _ in s.kids:
                    visit(kid)
                order.append(s)

        visit(self)
        self.d = 1.0
        for s in reversed(order):
            for kid, p in s.kids:
                kid.d += p * s.d


w = [S(random.uniform(-1, 1)) for _ in range(6)]
bias = S(0.0)
gain = S(1.0)
xs = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(20)]
for step in range(60):
    loss = S(0.0)
    for a, b in xs:
        h = (w[0] * a + w[1] * b).relu() * w[2] + (w[3] * a + w[4] * b).relu() * w[5]
        miss = (h + bias) * gain + (-(abs(a) - b))
        loss = loss + miss * miss * (1 / 20)
    loss.backward()
    for p in w:
        p.v -= 0.05 * p.d
    for p in (bias, gain):
        p.v -= 0.01 * p.d
    if step % 20 == 0:
        print(step, loss.v)
