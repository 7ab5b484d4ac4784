# expect: pattern = accumulated-loss
# expect: raises = Exception: cannot backprop more than once
# expect: engine = custom
# expect: carrier = total_loss
"""Fermentation grade of tea leaves with the Tensor class I typed in from the book (plus relu)."""
import numpy as np


class Tensor(object):

    def __init__(self, data, autograd=False, creators=None, creation_op=None, id=None):
        self.data = np.array(data)
        self.autograd = autograd
        self.grad = None
        self.id = np.random.randint(0, 1000000000) if id is None else id
        self.creators = creators
        self.creation_op = creation_op
        self.children = {}
        if creators is not None:
            for c in creators:
                if self.id not in c.children:
                    c.children[self.id] = 1
                else:
                    c.children[self.id] += 1

    def all_children_grads_accounted_for(self):
        for id, cnt in self.children.items():
            if cnt != 0:
                return False
        return True

    def backward(self, grad=None, grad_origin=None):
        if not self.autograd:
            return
        if grad is None:
            grad = Tensor(np.ones_like(self.data))
        if grad_origin is not None:
            if self.children[grad_origin.id] == 0:
                raise Exception("cannot backprop more than once")
            self.children[grad_origin.id] -= 1
        if self.grad is None:
            self.grad = grad
        else:
            self.grad = Tensor(self.grad.data + grad.data)

        if self.creators is not None and (self.all_children_grads_accounted_for() or grad_origin is None):
            a = self.creators[0]
            if self.creation_op == "add":
                a.backward(self.grad, self)
                self.creators[1].backward(self.grad, self)
            if self.creation_op == "sub":
                a.backward(self.grad, self)
                self.creators[1].backward(Tensor(-self.grad.data), self)
            if self.creation_op == "mul":
                a.backward(Tensor(self.grad.data * self.creators[1].data), self)
                self.creators[1].backward(Tensor(self.grad.data * a.data), self)
            if self.creation_op == "mm":
                c1 = self.creators[1]
                a.backward(Tensor(self.grad.data.dot(c1.data.T)), self)
                c1.backward(Tensor(a.data.T.dot(self.grad.data)), self)
            if self.creation_op == "relu":
                a.backward(Tensor(self.grad.data * (self.data > 0)), self)
            if self.creation_op == "sum":
                a.backward(Tensor(np.ones_like(a.data) * self.grad.data), self)

    def _make(self, data, op, *others):
        if self.autograd or any(o.autograd for o in others):
            return Tensor(data, autograd=True, creators=[self, *others], creation_op=op)
        return Tensor(data)

    def __add__(self, other):
        return self._make(self.data + other.data, "add", other)

    def __sub__(self, other):
        return self._make(self.data - other.data, "sub", other)

    def __mul__(self, other):
        return self._make(self.data * other.data, "mul", other)

    def mm(self, x):
        return self._make(self.data.dot(x.data), "mm", x)

    def relu(self):
        return self._make(np.maximum(self.data, 0), "relu")

    def sum(self):
        return self._make(self.data.sum(), "sum")


class SGD(object):
    def __init__(self, parameters, alpha=0.1):
        self.parameters = parameters
        self.alpha = alpha

    def step(self):
        for p in self.parameters:
            p.data = p.data - self.alpha * p.grad.data
            p.grad = None


class Linear(object):
    def __init__(self, n_in, n_out):
        self.weight = Tensor(np.random.randn(n_in, n_out) * np.sqrt(2.0 / n_in), autograd=True)

    def forward(self, x):
        return x.mm(self.weight)


np.random.seed(4)
leaves = np.random.rand(32, 3)                                       # redness, moisture, roll
grade = (leaves[:, :1] * 1.5 - leaves[:, 1:2] * leaves[:, 2:3])

l1, l2 = Linear(3, 8), Linear(8, 1)
optim = SGD([l1.weight, l2.weight], alpha=0.01)

for epoch in range(5):
    total_loss = Tensor(0.0)
    for i in range(0, 32, 8):
        x, y = Tensor(leaves[i:i + 8]), Tensor(grade[i:i + 8])
        diff = l2.forward(l1.forward(x).relu()) - y
        loss = (diff * diff).sum()
        total_loss = total_loss + loss  # expect: place
        total_loss.backward()  # expect: place
        optim.step()
    print(epoch, float(total_loss.data) / 32)
