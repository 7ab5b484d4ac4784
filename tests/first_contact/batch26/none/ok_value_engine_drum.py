# expect: pattern = none
# expect: engine = custom
"""Scalar autograd in plain Python: a leaky cell listens to a drum loop and guesses the next hit."""
import math
import random


class Value:
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

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), 'tanh')

        def _backward():
            self.grad += (1 - t * t) * out.grad
        out._backward = _backward
        return out

    def backward(self):
        topo, visited, stack = [], set(), [(self, False)]
        while stack:
            v, done = stack.pop()
            if done:
                topo.append(v)
            elif v not in visited:
                visited.add(v)
                stack.append((v, True))
                stack.extend((c, False) for c in v._prev)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other if isinstance(other, Value) else Value(-other))


class LeakyCell:
    def __init__(self, size, rng):
        self.w_in = [Value(rng.uniform(-1, 1)) for _ in range(size)]
        self.w_rec = [[Value(rng.uniform(-0.5, 0.5)) for _ in range(size)] for _ in range(size)]
        self.w_out = [Value(rng.uniform(-1, 1)) for _ in range(size)]
        self.bias = Value(0.0)

    def parameters(self):
        return self.w_in + [w for row in self.w_rec for w in row] + self.w_out + [self.bias]

    def __call__(self, x, h):
        h = [(wi * x + sum((w * hj for w, hj in zip(row, h)), Value(0.0))).tanh() for wi, row in zip(self.w_in, self.w_rec)]
        return sum((w * hj for w, hj in zip(self.w_out, h)), self.bias), h


rng = random.Random(3)
loop = [1, 0, 0, 1, 0, 0, 1, 0] * 8
cell = LeakyCell(4, rng)
h = [Value(0.0) for _ in range(4)]
curve = []
for start in range(0, len(loop) - 8, 8):
    loss = Value(0.0)
    for t in range(start, start + 8):
        guess, h = cell(loop[t], h)
        gap = guess - loop[t + 1]
        loss += gap * gap * 0.125
    loss.backward()
    for p in cell.parameters():
        p.data -= 0.2 * p.grad
        p.grad = 0.0
    h = [Value(v.data) for v in h]         # the next bar starts from here
    curve.append(loss.data)
print(["%.3f" % c for c in curve])
