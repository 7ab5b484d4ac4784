"""A tiny tape autograd and an Elman net on top that predicts the next scale degree
of a melody, bar by bar. numpy only for the maths (torch just seeds/compares)."""
import numpy as np
import torch

torch.manual_seed(0)
rng = np.random.RandomState(0)


class Tensor:
    def __init__(self, data, autograd=False, creators=(), op="leaf"):
        self.data = np.asarray(data, dtype=np.float64)
        self.autograd = autograd
        self.creators, self.op = creators, op
        self.grad = None
        self.spent = False
        self.rule = None

    def _make(self, data, creators, op, rule):
        need = any(c.autograd for c in creators)
        out = Tensor(data, need, creators if need else (), op)
        out.rule = rule
        return out

    def __add__(self, o):
        def rule(g):
            gb = g.sum(0) if o.data.ndim < g.ndim else g
            return g, gb
        return self._make(self.data + o.data, (self, o), "add", rule)

    def mm(self, o):
        return self._make(self.data @ o.data, (self, o), "mm",
                          lambda g: (g @ o.data.T, self.data.T @ g))

    def tanh(self):
        y = np.tanh(self.data)
        return self._make(y, (self,), "tanh", lambda g: (g * (1 - y * y),))

    def rows(self, idx):
        def rule(g):
            full = np.zeros_like(self.data)
            np.add.at(full, idx, g)
            return (full,)
        return self._make(self.data[idx], (self,), "rows", rule)

    def xent(self, target):
        z = self.data - self.data.max(1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        n = len(target)
        def rule(g):
            d = p.copy()
            d[np.arange(n), target] -= 1
            return (g * d / n,)
        return self._make(-np.log(p[np.arange(n), target]).mean(), (self,), "xent", rule)

    def backward(self, grad=None):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen or not node.autograd:
                return
            seen.add(id(node))
            for c in node.creators:
                visit(c)
            order.append(node)

        visit(self)
        pending = {id(self): np.ones_like(self.data) if grad is None else grad}
        for node in reversed(order):
            g = pending[id(node)]
            if node.op == "leaf":
                node.grad = g if node.grad is None else node.grad + g
                continue
            if node.spent:
                raise RuntimeError("node was already backpropagated; the tape of '%s' is spent" % node.op)
            for c, gc in zip(node.creators, node.rule(g)):
                if c.autograd:
                    pending[id(c)] = pending.get(id(c), 0) + gc
            node.spent = True


class Melody:
    def __init__(self, n_notes=8, hid=12):
        w = lambda *s: Tensor(rng.randn(*s) * 0.4, autograd=True)
        self.emb, self.wx, self.wh, self.b = w(n_notes, hid), w(hid, hid), w(hid, hid), Tensor(np.zeros(hid), True)
        self.out = w(hid, n_notes)

    def params(self):
        return [self.emb, self.wx, self.wh, self.b, self.out]

    def start(self, batch):
        return Tensor(np.zeros((batch, 12)))

    def bar(self, notes, h):
        loss = None
        for t in range(notes.shape[1] - 1):
            x = self.emb.rows(notes[:, t])
            h = (x.mm(self.wx) + h.mm(self.wh) + self.b).tanh()
            step = h.mm(self.out).xent(notes[:, t + 1])
            loss = step if loss is None else loss + step
        return loss, h


def sgd(params, lr):
    for p in params:
        p.data -= lr * np.clip(p.grad, -1, 1)
        p.grad = None


tune = np.array([0, 2, 4, 5, 4, 2, 0, 7, 4, 2, 5, 4, 2, 1, 0, 0] * 2)
songs = np.stack([np.roll(tune, k) for k in (0, 3, 8)])
net = Melody()
for epoch in range(25):
    carry = net.start(len(songs))
    heard = []
    for begin in range(0, songs.shape[1] - 8, 8):
        loss, carry = net.bar(songs[:, begin:begin + 9], carry)
        loss.backward()
        sgd(net.params(), lr=0.1)
        carry = Tensor(carry.data)
        heard.append(float(loss.data) / 8)
    if epoch % 6 == 0:
        print("epoch %2d  nats/note %.3f" % (epoch, np.mean(heard)))
