# expect: pattern = derived-outside-loop
# expect: raises = nothing
# expect: engine = custom
# expect: carrier = reg_loss, reg, l2
"""Ripe or not from two firmness readings, with my Value class from the lecture and a margin loss.

Explodes within a few steps however small I make alpha. Without the penalty it learns.
"""
import random


class Value:
    """stores a single scalar and its gradient"""

    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0
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

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), "ReLU")

        def _backward():
            self.grad += (out.data > 0) * out.grad
        out._backward = _backward
        return out

    def backward(self):
        topo, visited = [], set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)
        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            v._backward()

    def __neg__(self): return self * -1
    def __radd__(self, other): return self + other
    def __sub__(self, other): return self + (-other)
    def __rsub__(self, other): return other + (-self)
    def __rmul__(self, other): return self * other


class Module:
    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0

    def parameters(self):
        return []


class Neuron(Module):
    def __init__(self, nin, nonlin=True):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0)
        self.nonlin = nonlin

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.relu() if self.nonlin else act

    def parameters(self):
        return self.w + [self.b]


class Layer(Module):
    def __init__(self, nin, nout, **kwargs):
        self.neurons = [Neuron(nin, **kwargs) for _ in range(nout)]

    def __call__(self, x):
        out = [n(x) for n in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self):
        return [p for n in self.neurons for p in n.parameters()]


class MLP(Module):
    def __init__(self, nin, nouts):
        sz = [nin] + nouts
        self.layers = [Layer(sz[i], sz[i + 1], nonlin=i != len(nouts) - 1) for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


random.seed(1337)
X = [[random.uniform(-1, 1), random.uniform(-1, 1)] for _ in range(24)]
y = [1 if a * a + b > 0.2 else -1 for a, b in X]

model = MLP(2, [8, 1])
alpha = 1e-4
reg_loss = alpha * sum((p * p for p in model.parameters()))  # expect: place


def loss():
    scores = [model(x) for x in X]
    losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(y, scores)]
    data_loss = sum(losses) * (1.0 / len(losses))
    total_loss = data_loss + reg_loss  # expect: place
    accuracy = sum((yi > 0) == (scorei.data > 0) for yi, scorei in zip(y, scores))
    return total_loss, accuracy / len(y)


for k in range(16):
    total_loss, acc = loss()
    model.zero_grad()
    total_loss.backward()  # expect: place
    learning_rate = 0.3 - 0.2 * k / 16
    for p in model.parameters():
        p.data -= learning_rate * p.grad
    if k % 3 == 0:
        print(f"step {k} loss {total_loss.data:.4f}, accuracy {acc * 100:.0f}%")
