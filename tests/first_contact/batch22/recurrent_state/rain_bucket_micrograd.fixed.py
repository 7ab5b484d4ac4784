"""
I watched the micrograd lecture and built my own Value, then used it for something of mine:
how fast does our rain barrel leak? level goes down by a rate, rain goes in through a gutter with an
efficiency. One reading every hour, I update after each reading. Runs for a while, then breaks :(
"""
import math
import random

random.seed(1337)


class Value:
    """ stores a single scalar value and its gradient """

    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.data))
        out = Value(s, (self,), 'sigmoid')

        def _backward():
            self.grad += s * (1 - s) * out.grad
        out._backward = _backward
        return out

    def __neg__(self): return self * -1.0
    def __sub__(self, other): return self + (-other)
    def __radd__(self, other): return self + other
    def __rsub__(self, other): return other + (-self)
    def __rmul__(self, other): return self * other

    def backward(self):
        topo, visited = [], set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)
        build_topo(self)
        for v in topo:               # so nobody forgets zero_grad
            v.grad = 0.0
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()

    def __repr__(self):
        return f"Value(data={self.data:.4f}, grad={self.grad:.4f})"


class Barrel:
    def __init__(self):
        self.leak = Value(-1.0)      # sigmoid of it leaks per hour
        self.gutter = Value(0.0)     # sigmoid of it arrives
        self.level = Value(0.5)

    def parameters(self):
        return [self.leak, self.gutter]

    def __call__(self, rain):
        keep = 1.0 - self.leak.sigmoid()
        level = keep * self.level + self.gutter.sigmoid() * rain
        self.level = Value(level.data)
        return level


def readings(hours, leak=0.08, gutter=0.75):
    level = 0.5
    for _ in range(hours):
        rain = random.random() if random.random() < 0.3 else 0.0
        level = (1 - leak) * level + gutter * rain
        yield rain, level + random.gauss(0, 0.01)


barrel = Barrel()
lr = 0.05
for hour, (rain, measured) in enumerate(readings(600)):
    level = barrel(rain)
    error = level - measured
    loss = error * error

    loss.backward()
    for p in barrel.parameters():
        p.data -= lr * p.grad

    if hour % 50 == 0:
        print(hour, 'loss', round(loss.data, 5), 'leak', round(barrel.leak.sigmoid().data, 3),
              'gutter', round(barrel.gutter.sigmoid().data, 3))
