# expect: pattern = shared-subgraph
# expect: raises = ValueError: backward called twice
# expect: carrier = features
# expect: engine = custom
import numpy as np


class Tensor:
    def __init__(self, data, inputs=(), backward_fn=None, requires_grad=True):
        self.data = np.array(data, dtype=np.float64)
        self.inputs, self.backward_fn = inputs, backward_fn
        self.requires_grad, self.grad, self.freed = requires_grad, None, False

    def matmul(self, w):
        return Tensor(self.data @ w.data, (self, w), lambda g: (g @ w.data.T, self.data.T @ g))

    def relu(self):
        mask = self.data > 0
        return Tensor(self.data * mask, (self,), lambda g: (g * mask,))

    def mse(self, target):
        diff = self.data - target
        return Tensor((diff**2).mean(), (self,), lambda g: (g * 2 * diff / diff.size,))

    def __add__(self, other):
        return Tensor(self.data + other.data, (self, other), lambda g: (g, g))

    def topological(self, seen=None):
        seen = set() if seen is None else seen
        if id(self) in seen:
            return []
        seen.add(id(self))
        return [node for parent in self.inputs for node in parent.topological(seen)] + [self]

    def backward(self, retain_graph=False):
        pending = {id(self): np.ones_like(self.data)}
        for node in reversed(self.topological()):
            g = pending.pop(id(node), None)
            if g is None:
                continue
            if not node.inputs:
                if node.requires_grad:
                    node.grad = g if node.grad is None else node.grad + g
                continue
            if node.freed:
                raise ValueError("backward called twice on the same node; pass retain_graph=True")
            for parent, contribution in zip(node.inputs, node.backward_fn(g)):
                pending[id(parent)] = pending.get(id(parent), 0) + contribution
            node.freed = not retain_graph


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def step(self):
        for p in self.params:
            p.data = p.data - self.lr * p.grad

    def zero_grad(self):
        for p in self.params:
            p.grad = None


rng = np.random.default_rng(7)
trunk = Tensor(rng.normal(size=(5, 8)) * 0.4)
price_head, rent_head = Tensor(rng.normal(size=(8, 1)) * 0.4), Tensor(rng.normal(size=(8, 1)) * 0.4)
optimizer = SGD([trunk, price_head, rent_head], lr=0.1)

for step in range(4):
    x = rng.normal(size=(10, 5))
    features = Tensor(x, requires_grad=False).matmul(trunk).relu()  # expect: place
    price_loss = features.matmul(price_head).mse(x[:, :1])
    rent_loss = features.matmul(rent_head).mse(x[:, 1:2])
    optimizer.zero_grad()
    price_loss.backward()
    rent_loss.backward()  # expect: place
    optimizer.step()
