import numpy as np


class Tensor:
    """A teaching engine: every tensor knows its creators and how often each child will call back."""

    counter = 0

    def __init__(self, data, autograd=False, creators=None, creation_op=None):
        self.data = np.array(data, dtype=float)
        self.autograd, self.creators, self.creation_op = autograd, creators, creation_op
        self.grad, self.children = None, {}
        Tensor.counter += 1
        self.id = Tensor.counter
        for c in creators or []:
            c.children[self.id] = c.children.get(self.id, 0) + 1

    def all_children_grads_accounted_for(self):
        return all(count == 0 for count in self.children.values())

    def backward(self, grad=None, grad_origin=None):
        if not self.autograd:
            return
        grad = Tensor(np.ones_like(self.data)) if grad is None else grad
        if grad_origin is not None:
            if self.children[grad_origin.id] == 0:
                raise Exception("Cannot backpropagate more than once")
            self.children[grad_origin.id] -= 1
        self.grad = grad if self.grad is None else Tensor(self.grad.data + grad.data)
        if self.creators is None or not (self.all_children_grads_accounted_for() or grad_origin is None):
            return
        if self.creation_op == "add":
            for c in self.creators:
                c.backward(self.grad, self)
        elif self.creation_op == "mul":
            a, b = self.creators
            a.backward(Tensor(self.grad.data * b.data), self)
            b.backward(Tensor(self.grad.data * a.data), self)
        elif self.creation_op == "mm":
            a, b = self.creators
            a.backward(Tensor(self.grad.data @ b.data.T), self)
            b.backward(Tensor(a.data.T @ self.grad.data), self)
        elif self.creation_op == "tanh":
            self.creators[0].backward(Tensor(self.grad.data * (1 - self.data**2)), self)
        elif self.creation_op == "sigmoid":
            self.creators[0].backward(Tensor(self.grad.data * self.data * (1 - self.data)), self)

    def _make(self, data, op, *others):
        track = self.autograd or any(o.autograd for o in others)
        return Tensor(data, track, [self, *others] if track else None, op if track else None)

    def __add__(self, other):
        return self._make(self.data + other.data, "add", other)

    def __mul__(self, other):
        return self._make(self.data * other.data, "mul", other)

    def mm(self, other):
        return self._make(self.data @ other.data, "mm", other)

    def tanh(self):
        return self._make(np.tanh(self.data), "tanh")

    def sigmoid(self):
        return self._make(1 / (1 + np.exp(-self.data)), "sigmoid")


class LSTMCell:
    def __init__(self, n_in, n_hidden):
        self.w = {g: Tensor(np.random.randn(n_in, n_hidden) * 0.3, autograd=True) for g in "fioc"}
        self.u = {g: Tensor(np.random.randn(n_hidden, n_hidden) * 0.3, autograd=True) for g in "fioc"}
        self.head = Tensor(np.random.randn(n_hidden, n_in) * 0.3, autograd=True)

    def parameters(self):
        return [*self.w.values(), *self.u.values(), self.head]

    def forward(self, x, hidden):
        h, c = hidden
        pre = {g: x.mm(self.w[g]) + h.mm(self.u[g]) for g in "fioc"}
        c = pre["f"].sigmoid() * c + pre["i"].sigmoid() * pre["c"].tanh()
        h = pre["o"].sigmoid() * c.tanh()
        return h.mm(self.head), (h, c)


np.random.seed(0)
model, batch_size, alpha = LSTMCell(3, 5), 2, 0.02
series = np.random.randn(4, 5, batch_size, 3)
hidden = (Tensor(np.zeros((batch_size, 5)), autograd=True), Tensor(np.zeros((batch_size, 5)), autograd=True))

for batch_i in range(len(series)):
    hidden = (Tensor(hidden[0].data, autograd=True), hidden[1])
    loss = None
    for t in range(4):
        output, hidden = model.forward(Tensor(series[batch_i, t], autograd=True), hidden)
        diff = output + Tensor(-series[batch_i, t + 1])
        step_loss = diff * Tensor(diff.data)
        loss = step_loss if loss is None else loss + step_loss
    loss.backward()
    for p in model.parameters():
        p.data -= alpha * p.grad.data
        p.grad = None
