"""A hand-written autograd engine, and a recurrent state

A small tensor class with its own graph; the state of one step is the input of the next.
"""

import numpy as np

rng = np.random.default_rng(0)


class Tensor:
    def __init__(self, data, autograd=False, creators=(), rule=None):
        self.data = np.asarray(data, dtype=float)
        self.autograd = autograd
        self.creators = creators
        self.rule = rule
        self.grad = None
        self.visited = False

    def backward(self, grad=None):
        if self.visited and self.creators:
            raise RuntimeError("Cannot backpropagate more than once through the same node")
        grad = np.ones_like(self.data) if grad is None else grad
        self.grad = grad if self.grad is None else self.grad + grad
        if self.creators:
            self.visited = True
            for creator, part in zip(self.creators, self.rule(grad)):
                if creator.autograd:
                    creator.backward(part)

    def __matmul__(self, other):
        def rule(grad):
            return grad @ other.data.T, self.data.T @ grad

        return Tensor(self.data @ other.data, True, (self, other), rule)

    def __add__(self, other):
        return Tensor(self.data + other.data, True, (self, other), lambda grad: (grad, grad))

    def __sub__(self, other):
        return Tensor(self.data - other.data, True, (self, other), lambda grad: (grad, -grad))

    def tanh(self):
        value = np.tanh(self.data)
        return Tensor(value, True, (self,), lambda grad: (grad * (1 - value**2),))

    def square_sum(self):
        return Tensor((self.data**2).sum(), True, (self,), lambda grad: (2 * grad * self.data,))


weight_in = Tensor(rng.normal(size=(3, 5)) * 0.3, autograd=True)
weight_state = Tensor(rng.normal(size=(5, 5)) * 0.3, autograd=True)
weight_out = Tensor(rng.normal(size=(5, 1)) * 0.3, autograd=True)
weights = [weight_in, weight_state, weight_out]

state = Tensor(np.zeros((4, 5)))
for step in range(8):
    inputs = Tensor(rng.normal(size=(4, 3)))
    target = Tensor(inputs.data.sum(axis=1, keepdims=True))
    state = (inputs @ weight_in + state @ weight_state).tanh()
    loss = (state @ weight_out - target).square_sum()
    loss.backward()
    for weight in weights:
        weight.data -= 0.01 * weight.grad
        weight.grad = None
    print(f"step {step}: loss {float(loss.data):.3f}")
