"""Read a honeybee's waggle run (duration, tilt, number of wiggles) as distance and direction of the food.
Own reverse mode over NumPy arrays, no framework."""
import numpy as np


class Function:
    def __init__(self, *inputs):
        self.inputs, self.saved = inputs, None

    def recall(self):
        if self.saved is None:
            raise RuntimeError(f"buffers of {type(self).__name__} were released by an earlier backward")
        return self.saved

    @classmethod
    def apply(cls, *inputs):
        fn = cls(*inputs)
        return Var(fn.forward(*[v.data for v in inputs]), fn)


class Affine(Function):
    def forward(self, x, w, b):
        self.saved = x, w
        return x @ w + b

    def backward(self, g):
        x, w = self.recall()
        return g @ w.T, x.T @ g, g.sum(0)


class Tanh(Function):
    def forward(self, x):
        out = np.tanh(x)
        self.saved = out,
        return out

    def backward(self, g):
        out, = self.recall()
        return (g * (1 - out ** 2),)


class MeanSquare(Function):
    def forward(self, a, b):
        self.saved = a - b,
        return np.mean((a - b) ** 2)

    def backward(self, g):
        diff, = self.recall()
        grad = g * 2 * diff / diff.size
        return grad, -grad


class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return g, g


class Var:
    def __init__(self, data, fn=None):
        self.data, self.fn, self.grad = np.asarray(data, dtype=float), fn, None

    def __add__(self, other):
        return Add.apply(self, other)

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if id(v) not in seen and v.fn is not None:
                seen.add(id(v))
                for parent in v.fn.inputs:
                    visit(parent)
                order.append(v)

        visit(self)
        flowing = {id(self): np.ones_like(self.data)}
        for v in reversed(order):
            for parent, g in zip(v.fn.inputs, v.fn.backward(flowing.pop(id(v)))):
                if parent.fn is None:
                    parent.grad = g if parent.grad is None else parent.grad + g
                else:
                    flowing[id(parent)] = flowing.get(id(parent), 0.0) + g
            v.fn.saved = None


rng = np.random.default_rng(1973)


def layer(n_in, n_out):
    return Var(rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)), Var(np.zeros(n_out))


trunk, far, where = layer(3, 10), layer(10, 1), layer(10, 2)
params = [*trunk, *far, *where]

runs = rng.normal(size=(40, 3))
distance = Var(runs[:, :1] * 0.8 + 0.3 * runs[:, 2:])
heading = Var(np.column_stack([np.cos(runs[:, 1]), np.sin(runs[:, 1])]))

for epoch in range(20):
    for p in params:
        p.grad = None
    hidden = Tanh.apply(Affine.apply(Var(runs), *trunk))
    distance_loss = MeanSquare.apply(Affine.apply(hidden, *far), distance)
    angle_loss = MeanSquare.apply(Affine.apply(Var(hidden.data), *where), heading)
    distance_loss.backward()
    angle_loss.backward()
    for p in params:
        p.data -= 0.1 * p.grad
    if epoch % 5 == 4:
        print(epoch, round(float(distance_loss.data), 4), round(float(angle_loss.data), 4))
