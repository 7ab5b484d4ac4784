"""Level of a brook from hourly rain, with a small engine for gradients in NumPy.

The year is cut into windows; the water in the ground is handed from each window to the next.
"""
import numpy as np


class Node:
    """A value that knows what it was made of and how to send gradients there."""

    def __init__(self, data, parents=(), pullbacks=(), learn=False):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.parents, self.pullbacks = tuple(parents), tuple(pullbacks)
        self.learn = learn
        self.spent = False

    def frozen(self):
        """The same value, made of nothing."""
        return Node(self.data.copy())

    def __add__(self, other):
        other = wrap(other)
        return Node(
            self.data + other.data,
            (self, other),
            (lambda g: fit(g, self.data.shape), lambda g: fit(g, other.data.shape)),
        )

    def __mul__(self, other):
        other = wrap(other)
        return Node(
            self.data * other.data,
            (self, other),
            (lambda g: fit(g * other.data, self.data.shape), lambda g: fit(g * self.data, other.data.shape)),
        )

    def __sub__(self, other):
        return self + wrap(other) * -1.0

    def __matmul__(self, other):
        return Node(
            self.data @ other.data, (self, other), (lambda g: g @ other.data.T, lambda g: self.data.T @ g)
        )

    def tanh(self):
        out = np.tanh(self.data)
        return Node(out, (self,), (lambda g: g * (1 - out**2),))

    def mean(self):
        return Node(self.data.mean(), (self,), (lambda g: g * np.ones_like(self.data) / self.data.size,))

    def backward(self):
        """Gradients of this value with respect to all it was made of."""
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        flow = {id(self): np.ones_like(self.data)}
        for node in reversed(order):
            g = flow.pop(id(node))
            if node.learn:
                node.grad = g if node.grad is None else node.grad + g
            if node.parents and node.spent:
                raise RuntimeError("this node was backpropagated before; what it needed for that is gone")
            for parent, pull in zip(node.parents, node.pullbacks):
                flow[id(parent)] = flow.get(id(parent), 0.0) + pull(g)
            if node.parents:
                node.spent = True
                node.pullbacks = ()


def wrap(value):
    return value if isinstance(value, Node) else Node(value)


def fit(g, shape):
    """Undo broadcasting."""
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis, keepdims=True)
    return g


class Brook:
    def __init__(self, rng, width=6):
        def weight(rows, columns):
            return Node(rng.normal(0, 0.4, (rows, columns)), learn=True)

        self.rain, self.keep, self.read = weight(2, width), weight(width, width), weight(width, 1)
        self.bias = Node(np.zeros((1, width)), learn=True)
        self.water = None

    def parameters(self):
        return [self.rain, self.keep, self.read, self.bias]

    def new_year(self, catchments):
        self.water = Node(np.zeros((catchments, self.bias.data.shape[1])))

    def window(self, rain):
        levels = []
        self.water = self.water.frozen()
        for hour in range(rain.shape[1]):
            self.water = (Node(rain[:, hour]) @ self.rain + self.water @ self.keep + self.bias).tanh()
            levels.append(self.water @ self.read)
        return levels


class Descent:
    def __init__(self, parameters, rate):
        self.parameters, self.rate = parameters, rate

    def clear(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        for p in self.parameters:
            p.data = p.data - self.rate * np.clip(p.grad, -1, 1)


def year(rng, catchments=8, hours=60):
    rain = rng.gamma(0.4, 1.0, (catchments, hours, 1))
    season = np.sin(np.arange(hours) / 9)[None, :, None] * np.ones((catchments, 1, 1))
    level, levels = np.zeros((catchments, 1)), []
    for hour in range(hours):
        level = 0.8 * level + 0.15 * rain[:, hour] * (1.2 - season[:, hour])
        levels.append(level)
    return np.concatenate([rain, season], axis=2), np.stack(levels, axis=1)


rng = np.random.default_rng(2)
rain, level = year(rng)
brook = Brook(rng)
descent = Descent(brook.parameters(), rate=0.05)
WINDOW = 10
for passage in range(4):
    brook.new_year(len(rain))
    total = 0.0
    for start in range(0, rain.shape[1], WINDOW):
        guesses = brook.window(rain[:, start : start + WINDOW])
        loss = Node(0.0)
        for hour, guess in enumerate(guesses):
            error = guess - level[:, start + hour]
            loss = loss + (error * error).mean()
        descent.clear()
        loss.backward()
        descent.step()
        total += float(loss.data)
    print(passage, round(total / rain.shape[1], 5))
