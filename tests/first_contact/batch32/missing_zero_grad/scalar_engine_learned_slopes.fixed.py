"""A tiny scalar autograd with a leaky unit whose leak is learned.

Predicts from two measurements whether a mushroom is edible. The leaks run off to absurd
values and the loss jumps about; a smaller step only delays it.
"""
import math
import random


class Value:
    def __init__(self, data, _children=()):
        self.data = float(data)
        self.grad = 0.0
        self._prev = _children
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def prelu(self, slope):
        if self.data >= 0:
            out = Value(self.data, (self,))
        else:
            out = Value(slope.data * self.data, (self, slope))

        def _backward():
            if self.data >= 0:
                self.grad += out.grad
            else:
                self.grad += slope.data * out.grad
                slope.grad += self.data * out.grad

        out._backward = _backward
        return out

    def softplus(self):
        x = self.data
        out = Value(max(x, 0.0) + math.log1p(math.exp(-abs(x))), (self,))

        def _backward():
            self.grad += out.grad / (1.0 + math.exp(-x))

        out._backward = _backward
        return out

    def backward(self):
        topo, seen = [], set()

        def build(v):
            if id(v) not in seen:
                seen.add(id(v))
                for child in v._prev:
                    build(child)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self * -1.0


class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.gauss(0, 0.6)) for _ in range(nin)]
        self.b = Value(0.0)

    def __call__(self, x):
        return sum((wi * xi for wi, xi in zip(self.w, x)), self.b)

    def parameters(self):
        return self.w + [self.b]


class Net:
    def __init__(self, hidden):
        self.hidden = [Neuron(2) for _ in range(hidden)]
        self.slopes = [Value(0.25) for _ in range(hidden)]
        self.out = Neuron(hidden)

    def __call__(self, x):
        h = [n(x).prelu(s) for n, s in zip(self.hidden, self.slopes)]
        return self.out(h)

    def parameters(self):
        return [p for n in self.hidden for p in n.parameters()] + self.slopes + self.out.parameters()

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0


random.seed(4)
points = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(40)]
labels = [1.0 if abs(a) > b else -1.0 for a, b in points]

net = Net(5)
lr = 0.3
for k in range(60):
    loss = sum((((-net(x)) * y).softplus() for x, y in zip(points, labels)), Value(0.0)) * (1.0 / len(points))
    net.zero_grad()
    loss.backward()
    for p in net.parameters():
        p.data -= lr * p.grad
    if k % 10 == 0:
        print(k, round(loss.data, 4), [round(s.data, 2) for s in net.slopes])
