# expect: pattern = accumulated-loss
# expect: raises = Exception: Cannot backpropagate more than once
# expect: carrier = total
# expect: engine = custom
# Word vectors trained with a tiny engine.
import numpy as np


class Tensor(object):
    def __init__(self, data, autograd=False, creators=None, creation_op=None):
        self.data = np.array(data, dtype=float)
        self.autograd = autograd
        self.creators, self.creation_op = creators, creation_op
        self.grad, self.visited = None, False

    def __add__(self, other):
        return Tensor(self.data + other.data, True, [self, other], "add")

    def __sub__(self, other):
        return Tensor(self.data - other.data, True, [self, other], "sub")

    def __mul__(self, other):
        return Tensor(self.data * other.data, True, [self, other], "mul")

    def index_select(self, i):
        new = Tensor(self.data[i], True, [self], "index")
        new.index = i
        return new

    def backward(self, grad=None):
        if not self.autograd:
            return
        if self.creators is not None:
            if self.visited:
                raise Exception("Cannot backpropagate more than once")
            self.visited = True
        grad = np.ones_like(self.data) if grad is None else grad
        self.grad = grad if self.grad is None else self.grad + grad
        if self.creation_op in ("add", "sub"):
            a, b = self.creators
            a.backward(grad)
            b.backward(grad if self.creation_op == "add" else -grad)
        elif self.creation_op == "mul":
            a, b = self.creators
            a.backward(grad * b.data)
            b.backward(grad * a.data)
        elif self.creation_op == "index":
            full = np.zeros_like(self.creators[0].data)
            full[self.index] += grad
            self.creators[0].backward(full)


np.random.seed(4)
vectors = Tensor(np.random.rand(6, 3), autograd=True)
context = Tensor(np.random.rand(6, 3), autograd=True)
pairs = [(0, 1, 0.9), (2, 3, 0.1), (4, 5, 0.5), (1, 4, 0.3)]

for epoch in range(2):
    total = Tensor(np.zeros(3))
    for i, j, score in pairs:
        diff = vectors.index_select(i) * context.index_select(j) - Tensor(np.full(3, score))
        total = total + diff * Tensor(diff.data)  # expect: place
        total.backward()  # expect: place
        for table in (vectors, context):
            table.data -= 0.1 * table.grad
            table.grad = None
