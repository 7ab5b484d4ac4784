"""Tide levels with a recurrent cell on a small home-made autograd."""
import numpy as np


class Tensor:
    def __init__(self, data, autograd=False, creators=None, op=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.autograd = autograd
        self.creators = creators
        self.op = op
        self.grad = None
        self.pending = {}
        for creator in creators or ():
            creator.pending[id(self)] = creator.pending.get(id(self), 0) + 1

    def backward(self, grad=None, origin=None):
        if not self.autograd:
            return
        if grad is None:
            grad = np.ones_like(self.data)
        if origin is not None:
            if self.pending[id(origin)] == 0:
                raise Exception("cannot backpropagate more than once")
            self.pending[id(origin)] -= 1
        self.grad = grad if self.grad is None else self.grad + grad
        ready = all(left == 0 for left in self.pending.values())
        if self.creators is not None and (ready or origin is None):
            self.spread()

    def spread(self):
        g = self.grad
        if self.op == "add":
            for creator in self.creators:
                creator.backward(fold(g, creator.data.shape), self)
        elif self.op == "sub":
            self.creators[0].backward(g, self)
            self.creators[1].backward(-g, self)
        elif self.op == "mul":
            a, b = self.creators
            a.backward(g * b.data, self)
            b.backward(g * a.data, self)
        elif self.op == "mm":
            a, b = self.creators
            a.backward(g @ b.data.T, self)
            b.backward(a.data.T @ g, self)
        elif self.op == "tanh":
            self.creators[0].backward(g * (1 - self.data ** 2), self)
        elif self.op == "sum":
            self.creators[0].backward(np.full(self.creators[0].data.shape, g), self)

    def _make(self, data, op, *parents):
        if any(p.autograd for p in parents):
            return Tensor(data, autograd=True, creators=list(parents), op=op)
        return Tensor(data)

    def __add__(self, other):
        return self._make(self.data + other.data, "add", self, other)

    def __sub__(self, other):
        return self._make(self.data - other.data, "sub", self, other)

    def __mul__(self, other):
        return self._make(self.data * other.data, "mul", self, other)

    def mm(self, other):
        return self._make(self.data @ other.data, "mm", self, other)

    def tanh(self):
        return self._make(np.tanh(self.data), "tanh", self)

    def sum(self):
        return self._make(self.data.sum(), "sum", self)


def fold(grad, shape):
    """Undo broadcasting of a bias row."""
    return grad if grad.shape == shape else grad.sum(0, keepdims=True)


class SGD:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = parameters, lr

    def step(self):
        for p in self.parameters:
            p.data -= self.lr * p.grad
            p.grad = None
            p.pending = {}


class TideCell:
    def __init__(self, width, rng):
        self.w_in = Tensor(0.4 * rng.standard_normal((1, width)), autograd=True)
        self.w_mem = Tensor(0.4 * rng.standard_normal((width, width)), autograd=True)
        self.bias = Tensor(np.zeros((1, width)), autograd=True)
        self.w_out = Tensor(0.4 * rng.standard_normal((width, 1)), autograd=True)
        self.width = width

    def parameters(self):
        return [self.w_in, self.w_mem, self.bias, self.w_out]

    def start(self, batch):
        return Tensor(np.zeros((batch, self.width)), autograd=True)

    def forward(self, level, memory):
        memory = (level.mm(self.w_in) + memory.mm(self.w_mem) + self.bias).tanh()
        return memory.mm(self.w_out), memory


rng = np.random.default_rng(6)
HARBOURS, HOURS, WINDOW = 4, 48, 6
clock = np.arange(HOURS + 1)
tides = np.stack([np.sin(2 * np.pi * clock / 12.4 + p) for p in (0.0, 0.7, 1.5, 2.2)])

cell = TideCell(8, rng)
sgd = SGD(cell.parameters(), lr=0.02)

for epoch in range(4):
    memory = cell.start(HARBOURS)
    total = 0.0
    for begin in range(0, HOURS, WINDOW):
        error = None
        memory = cell.start(HARBOURS)
        for hour in range(begin, begin + WINDOW):
            now = Tensor(tides[:, hour:hour + 1])
            nxt = Tensor(tides[:, hour + 1:hour + 2])
            guess, memory = cell.forward(now, memory)
            gap = guess - nxt
            square = (gap * gap).sum()
            error = square if error is None else error + square
        error.backward()
        sgd.step()
        total += float(error.data)
    print(f"epoch {epoch}: squared error {total / (HARBOURS * HOURS):.4f}")
