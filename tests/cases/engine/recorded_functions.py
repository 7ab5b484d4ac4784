# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: backward called on a graph
# expect: carrier = features
# expect: engine = custom
import numpy as np


class Function:
    """One recorded operation."""

    def __init__(self, *parents):
        self.parents = parents
        self.saved = []

    @classmethod
    def apply(cls, *xs):
        ctx = cls(*xs)
        out = Tensor(ctx.forward(*[x.data for x in xs]))
        out._ctx = ctx
        return out


class Tensor:
    def __init__(self, data):
        self.data = np.array(data, dtype=np.float32)
        self.grad = None
        self._ctx = None

    def __add__(self, o): return Add.apply(self, o)
    def __mul__(self, o): return Mul.apply(self, o)
    def __matmul__(self, o): return Dot.apply(self, o)
    def relu(self): return ReLU.apply(self)
    def sum(self): return Sum.apply(self)

    def deepwalk(self):
        def _walk(node, visited, nodes):
            visited.add(node)
            if node._ctx:
                for p in node._ctx.parents:
                    if p not in visited:
                        _walk(p, visited, nodes)
                nodes.append(node)
            return nodes
        return _walk(self, set(), [])

    def backward(self):
        self.grad = np.ones_like(self.data)
        for t in reversed(self.deepwalk()):
            if t._ctx.saved is None:
                raise RuntimeError("backward called on a graph that has already released its saved arrays")
            grads = t._ctx.backward(t.grad)
            for p, g in zip(t._ctx.parents, grads if isinstance(grads, tuple) else (grads,)):
                p.grad = g if p.grad is None else p.grad + g
            t._ctx.saved = None


class Add(Function):
    def forward(self, x, y): return x + y
    def backward(self, g): return g, g


class Mul(Function):
    def forward(self, x, y):
        self.saved = [x, y]
        return x * y
    def backward(self, g):
        x, y = self.saved
        return g * y, g * x


class Dot(Function):
    def forward(self, x, w):
        self.saved = [x, w]
        return x @ w
    def backward(self, g):
        x, w = self.saved
        return g @ w.T, x.T @ g


class ReLU(Function):
    def forward(self, x):
        self.saved = [x]
        return np.maximum(x, 0)
    def backward(self, g): return g * (self.saved[0] > 0)


class Sum(Function):
    def forward(self, x):
        self.saved = [x]
        return np.array([x.sum()])
    def backward(self, g): return g * np.ones_like(self.saved[0])


class Net:
    def __init__(self):
        self.trunk = Tensor(np.random.randn(4, 6) * 0.3)
        self.a, self.b = Tensor(np.random.randn(6, 1) * 0.3), Tensor(np.random.randn(6, 1) * 0.3)

    def params(self): return self.trunk, self.a, self.b


np.random.seed(0)
net = Net()
for step in range(3):
    x = Tensor(np.random.randn(5, 4))
    features = (x @ net.trunk).relu()  # expect: place
    first = features @ net.a
    second = features @ net.b  # expect: place
    loss_a = (first * first).sum()
    loss_b = (second * second).sum()
    loss_a.backward()  # expect: place
    loss_b.backward()  # expect: place
    for p in net.params():
        p.data -= 0.01 * p.grad
        p.grad = None
    print(step, loss_a.data, loss_b.data)
