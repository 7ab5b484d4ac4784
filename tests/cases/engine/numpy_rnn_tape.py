# expect: pattern = recurrent-state
# expect: raises = RuntimeError: this part of the tape was already consumed
# expect: carrier = h, self.h
# expect: engine = custom
"""A tape-based engine in NumPy and a character RNN trained with it."""
import numpy as np


class Var:
    def __init__(self, data, parents=(), pull=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.parents, self.pull, self.used = parents, pull, False

    def detach(self):
        return Var(self.data.copy())

    def __matmul__(self, other):
        return Var(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

    def __add__(self, other):
        return Var(self.data + other.data, (self, other), lambda g: (g, g))

    def tanh(self):
        out = np.tanh(self.data)
        return Var(out, (self,), lambda g: (g * (1 - out**2),))

    def cross_entropy(self, targets):
        p = np.exp(self.data - self.data.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        rows = np.arange(len(targets))
        delta = p.copy()
        delta[rows, targets] -= 1
        return Var(-np.log(p[rows, targets]).mean(), (self,), lambda g: (g * delta / len(targets),))

    def backward(self):
        order, seen = [], set()
        stack = [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack += [(parent, False) for parent in node.parents]
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            if node.pull is None:
                continue
            if node.used:
                raise RuntimeError("this part of the tape was already consumed")
            node.used = True
            for parent, g in zip(node.parents, node.pull(node.grad)):
                parent.grad = parent.grad + g


class CharRNN:
    def __init__(self, vocab, hidden, batch):
        rng = np.random.default_rng(0)
        self.wx, self.wh, self.wo = (
            Var(rng.normal(0, 0.2, shape)) for shape in [(vocab, hidden), (hidden, hidden), (hidden, vocab)]
        )
        self.h = Var(np.zeros((batch, hidden)))
        self.eye = np.eye(vocab)

    def step(self, ids):
        self.h = (Var(self.eye[ids]) @ self.wx + self.h @ self.wh).tanh()  # expect: place
        return self.h @ self.wo


text = np.random.default_rng(3).integers(0, 6, size=(40, 4))
rnn = CharRNN(6, 8, batch=4)
for start in range(0, 36, 9):
    loss = Var(0.0)
    for t in range(start, start + 9):
        loss = loss + rnn.step(text[t]).cross_entropy(text[t + 1])
    loss.backward()  # expect: place
    for w in (rnn.wx, rnn.wh, rnn.wo):
        w.data -= 0.05 * w.grad
        w.grad = np.zeros_like(w.data)
