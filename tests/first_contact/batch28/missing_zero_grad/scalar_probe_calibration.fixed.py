# homework 3, part (d): calibrated two-layer classifier on the scalar engine of part (a)
import math
import random

random.seed(14)


class Scalar:
    __slots__ = ("data", "grad", "_pull", "_from")

    def __init__(self, data, _from=()):
        self.data = float(data)
        self.grad = 0.0
        self._pull = lambda: None
        self._from = _from

    def __add__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data + other.data, (self, other))

        def pull():
            self.grad += out.grad
            other.grad += out.grad
        out._pull = pull
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data * other.data, (self, other))

        def pull():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._pull = pull
        return out

    def tanh(self):
        out = Scalar(math.tanh(self.data), (self,))

        def pull():
            self.grad += (1 - out.data ** 2) * out.grad
        out._pull = pull
        return out

    def softplus(self):
        out = Scalar(math.log1p(math.exp(self.data)), (self,))

        def pull():
            self.grad += out.grad / (1 + math.exp(-self.data))
        out._pull = pull
        return out

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self * -1.0

    def backward(self):
        order, seen = [], set()

        def visit(s):
            if s not in seen:
                seen.add(s)
                for parent in s._from:
                    visit(parent)
                order.append(s)
        visit(self)
        self.grad = 1.0
        for s in reversed(order):
            s._pull()


class Neuron:
    def __init__(self, n, squash):
        self.w = [Scalar(random.uniform(-0.7, 0.7)) for _ in range(n)]
        self.b = Scalar(0)
        self.squash = squash

    def __call__(self, x):
        s = sum((w * xi for w, xi in zip(self.w, x)), self.b)
        return s.tanh() if self.squash else s

    def parameters(self):
        return self.w + [self.b]


class Net:
    def __init__(self, n_in, hidden):
        self.hidden = [Neuron(n_in, True) for _ in range(hidden)]
        self.out = Neuron(hidden, False)

    def __call__(self, x):
        return self.out([n(x) for n in self.hidden])

    def parameters(self):
        return [p for n in self.hidden + [self.out] for p in n.parameters()]

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0


points = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(24)]
labels = [1.0 if y > x * x - 0.3 else -1.0 for x, y in points]

net = Net(2, 5)
temp = Scalar(1.0)  # inverse temperature of the logits
lr, lr_temp = 1.0, 0.1

for step in range(40):
    loss = Scalar(0)
    for x, y in zip(points, labels):
        margin = temp * net(x) * y
        loss = loss + (-margin).softplus()
    loss = loss * (1 / len(points))

    net.zero_grad()
    temp.grad = 0.0
    loss.backward()
    for p in net.parameters():
        p.data -= lr * p.grad
    temp.data -= lr_temp * temp.grad

    if step % 10 == 0:
        hits = sum((net(x).data > 0) == (y > 0) for x, y in zip(points, labels))
        print(f"step {step} loss {loss.data:.4f} hits {hits}/{len(points)} temp {temp.data:.3f}")
