"""A kiln's temperature from its valves, with a gain that is learnt beside the layers, in bare NumPy."""
import numpy as np


class Array:
    def __init__(self, data, made_from=()):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.made_from = made_from
        self.pull = lambda: None

    def __matmul__(self, other):
        out = Array(self.data @ other.data, (self, other))

        def pull():
            self.grad += out.grad @ other.data.T
            other.grad += self.data.T @ out.grad

        out.pull = pull
        return out

    def __mul__(self, other):
        out = Array(self.data * other.data, (self, other))

        def pull():
            self.grad += out.grad * other.data
            other.grad += (out.grad * self.data).sum(0)

        out.pull = pull
        return out

    def tanh(self):
        out = Array(np.tanh(self.data), (self,))

        def pull():
            self.grad += out.grad * (1 - out.data ** 2)

        out.pull = pull
        return out

    def error(self, wanted):
        gap = self.data - wanted
        out = Array((gap ** 2).mean(), (self,))

        def pull():
            self.grad += out.grad * 2 * gap / gap.size

        out.pull = pull
        return out

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node.made_from:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            node.pull()


class Kiln:
    def __init__(self, rng):
        self.layers = [Array(0.5 * rng.normal(size=(4, 8))), Array(0.5 * rng.normal(size=(8, 1)))]
        self.gain = Array(np.ones(8))

    def heat(self, valves):
        return ((valves @ self.layers[0]) * self.gain).tanh() @ self.layers[1]

    def weights(self):
        return [*self.layers, self.gain]

    def zero_grad(self):
        for layer in self.weights():
            layer.grad = np.zeros_like(layer.data)


rng = np.random.default_rng(17)
valves = rng.normal(size=(50, 4))
measured = np.sin(valves[:, :1]) + 0.5 * valves[:, 1:2]
kiln = Kiln(rng)
for firing in range(24):
    loss = kiln.heat(Array(valves)).error(measured)
    kiln.zero_grad()
    loss.backward()
    for weight in kiln.weights():
        weight.data = weight.data - 0.1 * weight.grad
    if firing % 6 == 0:
        print(firing, float(loss.data))
