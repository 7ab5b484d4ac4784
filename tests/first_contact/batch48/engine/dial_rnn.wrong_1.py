



"""A tiny tape in NumPy, and an Elman network on it that guesses the next digit
of a rotary-dial pulse train."""
import numpy as np


class Cell:
    def __init__(self, value, autograd=False, creators=(), rule=None):
        self.value = np.asarray(value, dtype=float)
        self.autograd = autograd
        self.creators = creators
        self.rule = rule
        self.grad = None
        self.spent = False

    def _make(self, value, creators, rule):
        if any(c.autograd for c in creators):
            return Cell(value, True, creators, rule)
        return Cell(value)

    def __add__(self, other):
        return self._make(self.value + other.value, (self, other), lambda g: (g, g))

    def __matmul__(self, other):
        a, b = self.value, other.value
        return self._make(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g))

    def tanh(self):
        t = np.tanh(self.value)
        return self._make(t, (self,), lambda g: (g * (1 - t * t),))

    def surprise(self, target):
        """mean cross entropy against integer targets"""
        shifted = np.exp(self.value - self.value.max(1, keepdims=True))
        p = shifted / shifted.sum(1, keepdims=True)
        rows = np.arange(len(target))

        def rule(g):
            d = p.copy()
            d[rows, target] -= 1
            return (g * d / len(target),)

        return self._make(-np.log(p[rows, target]).mean(), (self,), rule)

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            for c in node.creators:
                visit(c)
            order.append(node)

        visit(self)
        self.grad = np.ones_like(self.value)
        for node in reversed(order):
            if node.rule is None or not node.autograd:
                continue
            if node.spent:
                raise RuntimeError("Cannot backpropagate more than once")
            node.spent = True
            for c, g in zip(node.creators, node.rule(node.grad)):
                if c.autograd:
                    if g.shape != c.value.shape:
                        g = g.sum(0, keepdims=True)
                    c.grad = g if c.grad is None else c.grad + g


class Descent:
    def __init__(self, cells, rate):
        self.cells, self.rate = cells, rate

    def step(self):
        for c in self.cells:
            c.value -= self.rate * np.clip(c.grad, -1, 1)
            c.grad = None


class Elman:
    def __init__(self, symbols, hidden, rng):
        def w(*shape):
            return Cell(rng.normal(0, 0.4, shape), autograd=True)

        self.inp, self.rec, self.out = w(symbols, hidden), w(hidden, hidden), w(hidden, symbols)
        self.bias = Cell(np.zeros((1, hidden)), autograd=True)

    def cells(self):
        return [self.inp, self.rec, self.out, self.bias]

    def rest(self, batch):
        return Cell(np.zeros((batch, self.rec.value.shape[0])))

    def __call__(self, x, state):
        state = (x @ self.inp + state @ self.rec + self.bias).tanh()
        return state @ self.out, state


def pulse_trains(batch, length):
    start = np.arange(batch)[:, None]
    return (start + np.array([0, 1, 3, 2, 0, 4] * length)[None, :length]) % 5


def main():
    rng = np.random.default_rng(6)
    digits = pulse_trains(batch=8, length=49)
    net = Elman(symbols=5, hidden=10, rng=rng)
    descent = Descent(net.cells(), rate=0.3)
    eye = np.eye(5)
    for lap in range(3):
        state = net.rest(8)
        for lo in range(0, 48, 6):
            cost = None
            for t in range(lo, lo + 6):
                guess, state = net(Cell(eye[digits[:, t]]), state)
                term = guess.surprise(digits[:, t + 1])
                cost = term if cost is None else cost + term
            cost.backward()
            descent.step()
            state = net.rest(8)
        print(f"lap {lap}: {float(cost.value) / 6:.4f}")


if __name__ == "__main__":
    main()
