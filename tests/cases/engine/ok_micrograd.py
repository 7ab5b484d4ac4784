import random


class Value:
    def __init__(self, data, children=()):
        self.data, self.grad, self._children = data, 0.0, children
        self._backward = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        order, seen = [], set()

        def build(v):
            if v not in seen:
                seen.add(v)
                for child in v._children:
                    build(child)
                order.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(order):
            v._backward()


random.seed(0)
w, b = Value(0.5), Value(0.0)
for step in range(20):
    x = random.uniform(-1, 1)
    error = w * Value(x) + b + Value(-(3 * x + 1))
    loss = error * error
    w.grad = b.grad = 0.0
    loss.backward()
    w.data, b.data = w.data - 0.1 * w.grad, b.data - 0.1 * b.grad
print(w.data, b.data)
