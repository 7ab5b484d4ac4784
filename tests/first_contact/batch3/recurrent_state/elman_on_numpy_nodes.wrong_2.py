"""A small reverse-mode engine on NumPy arrays and an Elman network that reads characters."""
import numpy as np


class Node:
    def __init__(self, value, parents=(), rule=None):
        self.value = np.asarray(value, dtype=float)
        self.parents, self.rule = parents, rule
        self.grad = np.zeros_like(self.value)
        self._consumed = False

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Node) else Node(x)

    def __add__(self, other):
        other = Node.wrap(other)
        return Node(self.value + other.value, (self, other), lambda g: (g, g))

    def __matmul__(self, other):
        return Node(self.value @ other.value, (self, other),
                    lambda g: (g @ other.value.T, self.value.T @ g))

    def tanh(self):
        t = np.tanh(self.value)
        return Node(t, (self,), lambda g: (g * (1 - t * t),))

    def nll(self, index):
        e = np.exp(self.value - self.value.max())
        p = e / e.sum()

        def rule(g):
            d = p.copy()
            d[0, index] -= 1
            return (g * d,)
        return Node(-np.log(p[0, index]), (self,), rule)

    def constant(self):
        """The same numbers without their past."""
        return Node(self.value.copy())

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) not in seen:
                seen.add(id(n))
                for p in n.parents:
                    visit(p)
                order.append(n)
        visit(self)
        self.grad = np.ones_like(self.value)
        for n in reversed(order):
            if n.rule is None:
                continue
            if n._consumed:
                raise RuntimeError("Cannot backpropagate more than once through this node")
            n._consumed = True
            for p, g in zip(n.parents, n.rule(n.grad)):
                p.grad = p.grad + g


class Elman:
    def __init__(self, vocab, hidden, rng):
        def init(*shape):
            return Node(rng.normal(0, 0.3, shape))
        self.wx, self.wh, self.wo = init(vocab, hidden), init(hidden, hidden), init(hidden, vocab)
        self.b = init(1, hidden)

    @property
    def weights(self):
        return [self.wx, self.wh, self.wo, self.b]

    def step(self, onehot, state):
        state = (Node(onehot) @ self.wx + state @ self.wh + self.b).tanh()
        return state @ self.wo, state


def main(text="abacabad" * 8, hidden=12, segment=8, lr=0.1):
    rng = np.random.default_rng(4)
    chars = sorted(set(text))
    eye = np.eye(len(chars))
    ids = [chars.index(c) for c in text]
    net = Elman(len(chars), hidden, rng)
    state = Node(np.zeros((1, hidden)))
    for start in range(0, len(ids) - segment, segment):
        loss = Node(0.0)
        for t in range(start, start + segment):
            state = state.constant()
            logits, state = net.step(eye[ids[t]][None], state)
            loss = loss + logits.nll(ids[t + 1])
        for w in net.weights:
            w.grad = np.zeros_like(w.value)
        loss.backward()
        for w in net.weights:
            w.value -= lr / segment * w.grad
        print("segment at %2d: %.4f" % (start, loss.value / segment))


if __name__ == "__main__":
    main()
