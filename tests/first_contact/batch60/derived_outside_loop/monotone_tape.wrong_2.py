




"""A NumPy autodiff in one file, used to fit a monotone dose-response curve."""
import numpy as np


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1 and g.shape[axis] != 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


class Arr:
    def __init__(self, data, parents=(), pull=None, name="leaf"):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents, self.pull, self.name = parents, pull, name
        self.spent = False

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Arr) else Arr(x)

    def _node(self, data, parents, pull, name):
        return Arr(data, parents, pull, name)

    def __add__(self, other):
        other = Arr.wrap(other)
        return self._node(self.data + other.data, (self, other), lambda g: (g, g), "add")

    def __sub__(self, other):
        other = Arr.wrap(other)
        return self._node(self.data - other.data, (self, other), lambda g: (g, -g), "sub")

    def __mul__(self, other):
        other = Arr.wrap(other)
        a, b = self.data, other.data
        return self._node(a * b, (self, other), lambda g: (g * b, g * a), "mul")

    def __matmul__(self, other):
        a, b = self.data, other.data
        return self._node(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g), "matmul")

    def exp(self):
        out = np.exp(self.data)
        return self._node(out, (self,), lambda g: (g * out,), "exp")

    def tanh(self):
        out = np.tanh(self.data)
        return self._node(out, (self,), lambda g: (g * (1 - out**2),), "tanh")

    def mean(self):
        shape, n = self.data.shape, self.data.size
        return self._node(self.data.mean(), (self,), lambda g: (np.full(shape, g / n),), "mean")

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if id(v) not in seen:
                seen.add(id(v))
                for p in v.parents:
                    visit(p)
                order.append(v)

        visit(self)
        self.grad = np.ones_like(self.data)
        for v in reversed(order):
            if v.pull is None:
                continue
            for p, g in zip(v.parents, v.pull(v.grad)):
                p.grad = p.grad + unbroadcast(np.asarray(g), p.data.shape)


class MonotoneLayer:
    """y = x @ exp(raw) + b: all the slopes are positive, so the curve cannot fall."""

    def __init__(self, n_in, n_out, rng):
        self.raw = Arr(rng.normal(-1.0, 0.4, (n_in, n_out)))
        self.bias = Arr(rng.normal(0.0, 0.5, (1, n_out)))
        self.gain = self.raw.exp()

    def __call__(self, x):
        return x @ self.gain + self.bias

    def parameters(self):
        return [self.raw, self.bias]


class Descent:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def zero_grad(self):
        for p in self.params:
            p.grad = np.zeros_like(p.data)

    def step(self):
        for p in self.params:
            p.data = p.data - self.lr * p.grad


def main():
    rng = np.random.default_rng(4)
    dose = rng.uniform(0.0, 3.0, (64, 1))
    response = np.tanh(1.4 * dose - 1.5) + 0.05 * rng.normal(size=dose.shape)
    first, last = MonotoneLayer(1, 8, rng), MonotoneLayer(8, 1, rng)
    opt = Descent(first.parameters() + last.parameters(), lr=0.1)
    for epoch in range(60):
        opt.zero_grad()
        err = last(first(Arr(dose)).tanh()) - Arr(response)
        loss = (err * err).mean()
        loss.backward()
        opt.step()
        if epoch % 20 == 0:
            print(f"{epoch:3d}  mse {float(loss.data):.4f}")


if __name__ == "__main__":
    main()
