



"""Next-note model for folk tunes on a home-made autograd engine (NumPy only).

The tune is cut into phrases of eight notes; the network's memory runs on from phrase to phrase.
"""
import numpy as np


class Tensor:
    def __init__(self, data, creators=None, backprop=None, autograd=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.creators = creators or []
        self.backprop = backprop
        self.autograd = autograd
        self.grad = None
        self.used = False

    def _new(self, data, creators, backprop):
        if not any(c.autograd for c in creators):
            return Tensor(data)
        return Tensor(data, creators, backprop, autograd=True)

    def __add__(self, other):
        def back(g):
            gb = g if other.data.shape == g.shape else g.sum(axis=0, keepdims=True)
            return [g, gb]
        return self._new(self.data + other.data, [self, other], back)

    def mm(self, other):
        return self._new(self.data @ other.data, [self, other],
                         lambda g: [g @ other.data.T, self.data.T @ g])

    def tanh(self):
        out = np.tanh(self.data)
        return self._new(out, [self], lambda g: [g * (1 - out ** 2)])

    def rows(self, index):
        def back(g):
            full = np.zeros_like(self.data)
            np.add.at(full, index, g)
            return [full]
        return self._new(self.data[index], [self], back)

    def cross_entropy(self, index):
        z = self.data - self.data.max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        pick = np.arange(len(index))

        def back(g):
            d = p.copy()
            d[pick, index] -= 1
            return [g * d / len(index)]
        return self._new(-np.log(p[pick, index]).mean(), [self], back)

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen and node.autograd:
                seen.add(id(node))
                for c in node.creators:
                    visit(c)
                order.append(node)
        visit(self)
        grads = {id(self): np.ones_like(self.data)}
        for node in reversed(order):
            g = grads.pop(id(node))
            if node.backprop is None:
                node.grad = g if node.grad is None else node.grad + g
                continue
            node.used = True
            for c, gc in zip(node.creators, node.backprop(g)):
                if c.autograd:
                    grads[id(c)] = grads.get(id(c), 0) + gc


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            p.data = p.data - self.lr * np.clip(p.grad, -1, 1)


rng = np.random.RandomState(7)
NOTES, DIM, VOICES, PHRASE = 7, 16, 4, 8
embed = Tensor(0.5 * rng.randn(NOTES, DIM), autograd=True)
w_in = Tensor(rng.randn(DIM, DIM) / 4, autograd=True)
w_rec = Tensor(rng.randn(DIM, DIM) / 4, autograd=True)
bias = Tensor(np.zeros((1, DIM)), autograd=True)
w_out = Tensor(rng.randn(DIM, NOTES) / 4, autograd=True)
optim = SGD([embed, w_in, w_rec, bias, w_out], lr=0.3)

motif = np.array([0, 2, 4, 2, 5, 4, 2, 1, 0, 0, 4, 6])
tunes = np.stack([np.roll(np.tile(motif, 7), 3 * v) for v in range(VOICES)])      # (voices, time)

for epoch in range(12):
    hidden = Tensor(np.zeros((VOICES, DIM)))
    total, phrases = 0.0, 0
    for start in range(0, tunes.shape[1] - PHRASE, PHRASE):
        loss = None
        for t in range(start, start + PHRASE):
            x = embed.rows(tunes[:, t])
            hidden = (x.mm(w_in) + hidden.mm(w_rec) + bias).tanh()
            step_loss = hidden.mm(w_out).cross_entropy(tunes[:, t + 1])
            loss = step_loss if loss is None else loss + step_loss
        optim.zero_grad()
        loss.backward()
        optim.step()
        total, phrases = total + loss.data / PHRASE, phrases + 1
    print("epoch %2d  loss %.3f" % (epoch, total / phrases))
