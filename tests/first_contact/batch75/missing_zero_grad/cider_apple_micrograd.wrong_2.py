"""Which apples go to the cider press? Sugar and acid decide. Scalar autograd, no libraries."""
import math
import random


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t * t) * out.grad
        out._backward = _backward
        return out

    def __sub__(self, other):
        return self + other * -1

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self):
        topo, visited = [], set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)
        build_topo(self)
        self.grad = 1.0
        for node in reversed(topo):
            node._backward()


class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0.0)

    def __call__(self, x):
        return sum((wi * xi for wi, xi in zip(self.w, x)), self.b).tanh()

    def parameters(self):
        return self.w + [self.b]


class MLP:
    def __init__(self, nin, nouts):
        sizes = [nin] + nouts
        self.layers = [[Neuron(sizes[i]) for _ in range(nouts[i])] for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = [neuron(x) for neuron in layer]
        return x[0]

    def parameters(self):
        return [p for layer in self.layers for neuron in layer for p in neuron.parameters()]


random.seed(1337)
apples = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(24)]
press = [1.0 if sugar + 0.5 * acid > 0.1 else -1.0 for sugar, acid in apples]

model = MLP(2, [4, 1])
for k in range(20):
    ypred = [model(x) for x in apples]
    errors = [yp - y for yp, y in zip(ypred, press)]
    loss = sum(e * e for e in errors) * (1 / len(apples))
    loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad / (k + 1)
    if k % 5 == 4:
        right = sum((yp.data > 0) == (y > 0) for yp, y in zip(ypred, press))
        print(k, round(loss.data, 4), f"{right}/{len(apples)}")
