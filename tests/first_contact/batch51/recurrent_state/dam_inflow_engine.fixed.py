# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Cannot backpropagate more than once
# expect: carrier = h
# expect: engine = custom
"""Next-day inflow to a reservoir with a small Elman network, on a reverse-mode engine of our own.

NumPy only: the target machine (a PLC gateway) has no room for a framework.
"""
import numpy as np


class Tensor:
    def __init__(self, data, creators=(), vjp=None, autograd=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.creators, self.vjp = creators, vjp
        self.autograd = autograd or any(c.autograd for c in creators)
        self.grad = None
        self.consumed = False

    def __add__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        return Tensor(self.data + other.data, (self, other),
                      lambda g: (reduce_to(g, self.data.shape), reduce_to(g, other.data.shape)))

    def __mul__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        return Tensor(self.data * other.data, (self, other),
                      lambda g: (reduce_to(g * other.data, self.data.shape), reduce_to(g * self.data, other.data.shape)))

    def __matmul__(self, other):
        return Tensor(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

    def tanh(self):
        y = np.tanh(self.data)
        return Tensor(y, (self,), lambda g: (g * (1 - y * y),))

    def mean(self):
        return Tensor(self.data.mean(), (self,), lambda g: (np.full(self.data.shape, g / self.data.size),))

    def detach(self):
        return Tensor(self.data)

    def backward(self):
        order, seen = [], set()
        stack = [(self, False)]
        while stack:
            node, expanded = stack.pop()
            if expanded:
                order.append(node)
            elif id(node) not in seen and node.autograd:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((c, False) for c in node.creators)
        grads = {id(self): np.ones_like(self.data)}
        for node in reversed(order):
            g = grads.pop(id(node))
            if node.vjp is None:
                node.grad = g if node.grad is None else node.grad + g
                continue
            if node.consumed:
                raise RuntimeError("Cannot backpropagate more than once through the same operation")
            node.consumed = True
            for creator, cg in zip(node.creators, node.vjp(g)):
                if creator.autograd:
                    grads[id(creator)] = grads.get(id(creator), 0.0) + cg


def reduce_to(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdims=True)
    return g


class ElmanCell:
    def __init__(self, n_in, n_hidden, rng):
        draw = lambda a, b: Tensor(rng.normal(scale=1 / np.sqrt(a), size=(a, b)), autograd=True)
        self.parameters = [draw(n_in, n_hidden), draw(n_hidden, n_hidden), draw(n_hidden, 1),
                           Tensor(np.zeros((1, n_hidden)), autograd=True), Tensor(np.zeros((1, 1)), autograd=True)]

    def __call__(self, x, h):
        w_in, w_rec, w_out, b, c = self.parameters
        h = (x @ w_in + h @ w_rec + b).tanh()
        return h @ w_out + c, h


class Momentum:
    def __init__(self, parameters, lr, beta=0.8):
        self.parameters, self.lr, self.beta = parameters, lr, beta
        self.velocity = [np.zeros_like(p.data) for p in parameters]

    def step(self):
        for p, v in zip(self.parameters, self.velocity):
            v[...] = self.beta * v + np.clip(p.grad, -1, 1)
            p.data = p.data - self.lr * v
            p.grad = None


def catchments(rng, days, n):
    rain, store, inflow = rng.exponential(0.35, size=(days, n)), np.ones(n), []
    for d in range(days):
        store = 0.85 * store + rain[d]
        inflow.append(0.15 * store)
    return rain, np.array(inflow)


def main(window=10, epochs=15):
    rng = np.random.default_rng(77)
    rain, inflow = catchments(rng, 121, 12)
    cell = ElmanCell(2, 12, rng)
    opt = Momentum(cell.parameters, lr=0.05)
    for epoch in range(epochs):
        h = Tensor(np.zeros((12, 12)))  # expect: place
        epoch_loss = 0.0
        for start in range(0, 120, window):
            loss = Tensor(0.0)
            for d in range(start, start + window):
                x = Tensor(np.stack([rain[d], inflow[d]], axis=1))
                pred, h = cell(x, h)  # expect: place
                error = pred + (-inflow[d + 1][:, None])
                loss = loss + (error * error).mean() * (1.0 / window)
            loss.backward()  # expect: place
            opt.step()
            h = h.detach()
            epoch_loss += float(loss.data) * window / 120
        if epoch % 5 == 4 or epoch == 0:
            print("epoch %2d  mse %.5f" % (epoch, epoch_loss))


if __name__ == "__main__":
    main()
