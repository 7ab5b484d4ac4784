# expect: pattern = recurrent-state
# expect: raises = RuntimeError: the creator of this variable has been released
# expect: carrier = memory
# expect: engine = custom
"""Variables with creators and generations; a gated memory over a drum loop."""
import heapq
import itertools

import numpy as np

counter = itertools.count()


class Variable:
    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.creator = None
        self.generation = 0

    def born_of(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def cleargrad(self):
        self.grad = None

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __matmul__(self, other):
        return MatMul()(self, other)

    def backward(self):
        self.grad = np.ones_like(self.data)
        heap, seen = [], set()

        def push(func):
            if func is not None and func not in seen:
                seen.add(func)
                heapq.heappush(heap, (-func.generation, next(counter), func))

        push(self.creator)
        while heap:
            func = heapq.heappop(heap)[2]
            if func.inputs is None:
                raise RuntimeError("the creator of this variable has been released")
            grads = func.backward(func.output.grad)
            for x, g in zip(func.inputs, grads):
                x.grad = g if x.grad is None else x.grad + g
                push(x.creator)
            func.inputs = None


class Function:
    def __call__(self, *inputs):
        self.inputs = inputs
        self.generation = max(x.generation for x in inputs)
        self.output = Variable(self.forward(*(x.data for x in inputs)))
        self.output.born_of(self)
        return self.output


class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return g, g


class Mul(Function):
    def forward(self, a, b):
        return a * b

    def backward(self, g):
        a, b = self.inputs
        return g * b.data, g * a.data


class MatMul(Function):
    def forward(self, a, b):
        return a @ b

    def backward(self, g):
        a, b = self.inputs
        return g @ b.data.T, a.data.T @ g


class Tanh(Function):
    def forward(self, a):
        self.y = np.tanh(a)
        return self.y

    def backward(self, g):
        return (g * (1 - self.y ** 2),)


class Mse(Function):
    def forward(self, a, t):
        self.d = a - t
        return np.mean(self.d ** 2)

    def backward(self, g):
        e = g * 2 * self.d / self.d.size
        return e, -e


rng = np.random.default_rng(11)
beats = np.sign(np.sin(np.arange(64) * 0.9))
U = Variable(rng.normal(size=(1, 6)) * 0.4)
W = Variable(rng.normal(size=(6, 6)) * 0.4)
V = Variable(rng.normal(size=(6, 1)) * 0.4)
weights = [U, W, V]

memory = Variable(np.zeros((1, 6)))
for bar in range(0, 60, 4):
    loss = Variable(0.0)
    for t in range(bar, bar + 4):
        memory = Tanh()(Variable([[beats[t]]]) @ U + memory @ W)  # expect: place
        loss = loss + Mse()(memory @ V, Variable([[beats[t + 1]]]))
    for w in weights:
        w.cleargrad()
    loss.backward()  # expect: place
    for w in weights:
        w.data -= 0.05 * w.grad
    print(bar // 4, float(loss.data))
