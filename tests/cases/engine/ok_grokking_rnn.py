# A hand-written engine used as it is meant to be: the state is wrapped anew for every segment.
import numpy as np


class Tensor:
    def __init__(self, data, autograd=False, creators=None, op=None):
        self.data, self.autograd = np.array(data, dtype=float), autograd
        self.creators, self.op, self.grad, self.done = creators or [], op, None, False

    def __add__(self, other):
        return Tensor(self.data + other.data, True, [self, other], "add")

    def mm(self, other):
        return Tensor(self.data @ other.data, True, [self, other], "mm")

    def tanh(self):
        return Tensor(np.tanh(self.data), True, [self], "tanh")

    def backward(self, grad):
        if not self.autograd:
            return
        if self.creators and self.done:
            raise Exception("Cannot backpropagate more than once")
        self.done = True
        self.grad = grad if self.grad is None else self.grad + grad
        if self.op == "add":
            for creator in self.creators:
                creator.backward(grad)
        elif self.op == "mm":
            a, b = self.creators
            a.backward(grad @ b.data.T)
            b.backward(a.data.T @ grad)
        elif self.op == "tanh":
            self.creators[0].backward(grad * (1 - self.data**2))


np.random.seed(0)
wx, wh = (Tensor(np.random.randn(*s) * 0.3, autograd=True) for s in [(2, 4), (4, 4)])
hidden = Tensor(np.zeros((3, 4)), autograd=True)
for segment in np.random.randn(4, 5, 3, 2):
    hidden = Tensor(hidden.data, autograd=True)
    for x in segment:
        hidden = (Tensor(x).mm(wx) + hidden.mm(wh)).tanh()
    hidden.backward(hidden.data)
    for w in (wx, wh):
        w.data -= 0.05 * w.grad
        w.grad = None
