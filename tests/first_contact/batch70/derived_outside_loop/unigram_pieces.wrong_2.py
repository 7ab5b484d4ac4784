# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: this node was released by an earlier backward
# expect: carrier = logp
# expect: engine = custom
"""Unigram subword vocabulary, trained with hard EM by gradient; engine in NumPy only."""
import numpy as np


class Node:
    def __init__(self, data, parents=(), pull=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.pull = pull
        self.released = False

    def log_softmax(self):
        z = self.data - self.data.max()
        out = z - np.log(np.exp(z).sum())
        prob = np.exp(out)

        def pull(g):
            self.grad += g - prob * g.sum()

        return Node(out, (self,), pull)

    def take(self, idx):
        def pull(g):
            np.add.at(self.grad, idx, g)

        return Node(self.data[idx], (self,), pull)

    def sum(self):
        def pull(g):
            self.grad += g * np.ones_like(self.data)

        return Node(self.data.sum(), (self,), pull)

    def __mul__(self, k):
        def pull(g):
            self.grad += k * g

        return Node(self.data * k, (self,), pull)

    def __neg__(self):
        return self * -1.0

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) in seen:
                return
            seen.add(id(n))
            for p in n.parents:
                visit(p)
            order.append(n)

        visit(self)
        self.grad = np.ones_like(self.data)
        for n in reversed(order):
            if n.pull is None:
                continue
            if n.released:
                raise RuntimeError("this node was released by an earlier backward")
            n.pull(n.grad)


def best_split(word, piece_id, logp, longest=4):
    score, back = [0.0] + [-np.inf] * len(word), [0] * (len(word) + 1)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - longest), end):
            i = piece_id.get(word[start:end])
            if i is not None and score[start] + logp[i] > score[end]:
                score[end], back[end] = score[start] + logp[i], start
    out, end = [], len(word)
    while end:
        out.append(piece_id[word[back[end]:end]])
        end = back[end]
    return out[::-1]


words = "lower lowest newer newest wider widest slow slower slowest renew reviewer widen".split()
pieces = sorted({w[i:j] for w in words for i in range(len(w)) for j in range(i + 1, min(len(w), i + 4) + 1)})
piece_id = {p: i for i, p in enumerate(pieces)}

rng = np.random.default_rng(5)
scores = Node(0.01 * rng.standard_normal(len(pieces)))
logp = scores.log_softmax()  # expect: place
lr = 8.0

for epoch in range(6):
    ids = np.array([i for w in words for i in best_split(w, piece_id, logp.data)])
    nll = -logp.take(ids).sum() * (1.0 / len(words))  # expect: place
    scores.grad[:] = 0.0
    nll.backward()  # expect: place
    scores.data -= lr * scores.grad / len(ids)
    print(f"epoch {epoch}  pieces used {len(ids)}  nll/word {float(nll.data):.3f}")

top = np.argsort(-scores.data)[:8]
print("kept:", [pieces[i] for i in top])
