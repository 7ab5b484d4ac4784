"""Water level of our well with my own micrograd. State from hour to hour, total loss over a window of 6 hours,
grads pile up over 2 windows on purpose before I update (less jumpy)."""
import random

random.seed(99)


class Value:
    def __init__(self, data, children=(), backward=None):
        self.data, self.grad = data, 0.0
        self.children = children
        self.push = backward or (lambda g: ())

    def __add__(self, other):
        other = lift(other)
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = lift(other)
        return Value(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-lift(other))

    def __rsub__(self, other):
        return lift(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    def relu(self):
        return Value(max(self.data, 0.0), (self,), lambda g: (g if self.data > 0 else 0.0,))

    def backward(self):
        topo, seen = [], set()

        def build(v):
            if v not in seen:
                seen.add(v)
                for c in v.children:
                    build(c)
                topo.append(v)
        build(self)
        self.grad += 1.0
        for v in reversed(topo):
            for child, g in zip(v.children, v.push(v.grad)):
                child.grad += g


def lift(x):
    return x if isinstance(x, Value) else Value(x)


class Well:
    def __init__(self):
        self.seep = Value(0.05)
        self.fill = Value(0.3)
        self.level = Value(1.0)

    def parameters(self):
        return [self.seep, self.fill]

    def step(self, rain):
        self.level = self.level - self.seep * self.level + self.fill * (rain - 0.1).relu()
        return self.level

    def forget_history(self):
        self.level = Value(self.level.data)


def hours(n):
    level = 1.0
    for _ in range(n):
        rain = random.random() if random.random() < 0.4 else 0.0
        level = level * 0.88 + 0.5 * max(rain - 0.1, 0.0)
        yield Value(rain), level


well, window, total, hour = Well(), 6, Value(0.0), 0
for p in well.parameters():
    p.grad = 0.0
for rain, measured in hours(480):
    error = well.step(rain) - measured
    total = total + error * error
    hour += 1
    if hour % window == 0:
        total.backward()
        shown = total.data
        total = Value(0.0)
        well.forget_history()
    if hour % (2 * window) == 0:
        for p in well.parameters():
            p.data -= 0.01 * p.grad
            p.grad = 0.0
    if hour % 96 == 0:
        print(hour, f"loss {shown / window:.5f}  seep {well.seep.data:.3f}  fill {well.fill.data:.3f}")
