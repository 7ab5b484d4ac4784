# expect: pattern = none
# expect: raises = nothing
import math
import random


class Scalar:
    """scalar with reverse-mode gradient; second backward over a freed graph raises."""

    def __init__(self, x, back=None):
        self.x, self.dx, self.back, self.freed = float(x), 0.0, back or (), False

    def __add__(self, o):
        o = o if isinstance(o, Scalar) else Scalar(o)
        return Scalar(self.x + o.x, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, Scalar) else Scalar(o)
        return Scalar(self.x * o.x, ((self, o.x), (o, self.x)))

    def relu(self):
        return Scalar(max(0.0, self.x), ((self, float(self.x > 0)),))

    def backward(self):
        order, seen = [], set()

        def dfs(n):
            if id(n) not in seen:
                seen.add(id(n))
                for p, _ in n.back:
                    dfs(p)
                order.append(n)

        dfs(self)
        self.dx = 1.0
        for n in reversed(order):
            if n.freed:
                raise RuntimeError("freed")
            for p, d in n.back:
                p.dx += d * n.dx
            n.freed = bool(n.back)


class Net:
    def __init__(self, rng):
        self.w = [Scalar(rng.uniform(-1, 1)) for _ in range(6)]
        self.v = [Scalar(rng.uniform(-1, 1)) for _ in range(3)]

    def __call__(self, a, b):
        hs = [(self.w[2 * i] * a + self.w[2 * i + 1] * b).relu() for i in range(3)]
        out = Scalar(0)
        for h, v in zip(hs, self.v):
            out = out + h * v
        return out

    def params(self):
        return self.w + self.v


rng = random.Random(4)
net = Net(rng)
memory = None
for epoch in range(3):
    for batch in range(2):
        total = Scalar(0)
        for _ in range(4):
            a, b = rng.random(), rng.random()
            carry = Scalar(memory.x) if memory is not None else Scalar(0)
            pred = net(a, b) + carry * 0.1
            memory = pred
            err = pred + (-(a - b))
            total = total + err * err
        for p in net.params():
            p.dx = 0.0
        total.backward()
        for p in net.params():
            p.x -= 0.02 * p.dx
    print(epoch, total.x)
