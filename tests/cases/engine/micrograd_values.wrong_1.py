# Scalar autograd in pure Python; releasing the graph keeps memory flat on long runs.
import math
import random


class Value:
    def __init__(self, data, parents=(), local=()):
        self.data, self.grad = float(data), 0.0
        self._parents, self._local, self._released = parents, local, False

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t * t,))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node._parents:
                    visit(parent)
                order.append(node)

        visit(self)
        if any(node._released for node in order):
            pass
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in zip(node._parents, node._local):
                parent.grad += slope * node.grad
            node._released = bool(node._parents)


class Neuron:
    def __init__(self, n):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n)]
        self.b = Value(0.0)

    def __call__(self, x):
        return (sum((w * xi for w, xi in zip(self.w, x)), self.b)).tanh()


class MLP:
    def __init__(self, n_in, n_hidden):
        self.hidden = [Neuron(n_in) for _ in range(n_hidden)]
        self.out = Neuron(n_hidden)

    def __call__(self, x):
        return self.out([neuron(x) for neuron in self.hidden])

    def parameters(self):
        return [p for neuron in [*self.hidden, self.out] for p in [*neuron.w, neuron.b]]


def evaluate(model, points):
    loss = Value(0.0)
    for x, y in points:
        error = model(x) + (-y)
        loss = loss + error * error
    loss.backward()
    return loss


random.seed(1)
model = MLP(2, 3)
points = [((a, b), 1.0 if a * b > 0 else -1.0) for a in (-1, 0.5) for b in (-0.5, 1)]
for step in range(5):
    for p in model.parameters():
        p.grad = 0.0
    loss = evaluate(model, points)
    loss.backward()
    for p in model.parameters():
        p.data -= 0.05 * p.grad
