# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = Exception: cannot backprop more than once
# expect: engine = custom
# expect: carrier = words, embedded, vectors, embed
# My own little framework after the book, with an embedding layer. Task: vegetarian dish or not, from the menu line.
import numpy as np


class Tensor(object):

    def __init__(self, data, autograd=False, parents=None, op=None, id=None):
        self.data = np.array(data)
        self.autograd = autograd
        self.parents = parents
        self.op = op
        self.grad = None
        self.children = {}
        self.id = np.random.randint(0, 10 ** 9) if id is None else id
        if parents is not None:
            for p in parents:
                p.children[self.id] = p.children.get(self.id, 0) + 1

    def all_children_accounted_for(self):
        return all(n == 0 for n in self.children.values())

    def backward(self, grad=None, origin=None):
        if not self.autograd:
            return
        if grad is None:
            grad = Tensor(np.ones_like(self.data, dtype=float))
        if origin is not None:
            if self.children[origin.id] == 0:
                raise Exception("cannot backprop more than once")
            self.children[origin.id] -= 1
        self.grad = grad if self.grad is None else Tensor(self.grad.data + grad.data)
        if self.parents is None or not (self.all_children_accounted_for() or origin is None):
            return

        g = self.grad.data
        if self.op == "add":
            self.parents[0].backward(Tensor(g), self)
            self.parents[1].backward(Tensor(g), self)
        elif self.op == "sub":
            self.parents[0].backward(Tensor(g), self)
            self.parents[1].backward(Tensor(-g), self)
        elif self.op == "mul":
            self.parents[0].backward(Tensor(g * self.parents[1].data), self)
            self.parents[1].backward(Tensor(g * self.parents[0].data), self)
        elif self.op == "mm":
            a, b = self.parents
            a.backward(Tensor(g @ b.data.T), self)
            b.backward(Tensor(a.data.T @ g), self)
        elif self.op == "tanh":
            self.parents[0].backward(Tensor(g * (1 - self.data ** 2)), self)
        elif self.op == "sigmoid":
            self.parents[0].backward(Tensor(g * self.data * (1 - self.data)), self)
        elif self.op == "lookup":
            table = np.zeros_like(self.parents[0].data)
            np.add.at(table, self.index.flatten(), g.reshape(-1, g.shape[-1]))
            self.parents[0].backward(Tensor(table), self)
        elif self.op == "mean1":
            n = self.parents[0].data.shape[1]
            self.parents[0].backward(Tensor(np.repeat(g[:, None, :], n, axis=1) / n), self)
        elif self.op == "sum":
            self.parents[0].backward(Tensor(g * np.ones_like(self.parents[0].data)), self)
        elif self.op == "expand":
            self.parents[0].backward(Tensor(g.sum(0)), self)

    def _make(self, data, op, *others):
        parents = [self, *others]
        return Tensor(data, autograd=any(p.autograd for p in parents), parents=parents, op=op)

    def __add__(self, other): return self._make(self.data + other.data, "add", other)
    def __sub__(self, other): return self._make(self.data - other.data, "sub", other)
    def __mul__(self, other): return self._make(self.data * other.data, "mul", other)
    def mm(self, other): return self._make(self.data @ other.data, "mm", other)
    def tanh(self): return self._make(np.tanh(self.data), "tanh")
    def sigmoid(self): return self._make(1 / (1 + np.exp(-self.data)), "sigmoid")
    def sum(self): return self._make(self.data.sum(), "sum")
    def mean1(self): return self._make(self.data.mean(1), "mean1")
    def expand(self, n): return self._make(np.repeat(self.data[None], n, axis=0), "expand")

    def lookup(self, index):
        out = self._make(self.data[index], "lookup")
        out.index = index
        return out


class Embedding:
    def __init__(self, vocab, dim):
        self.weight = Tensor((np.random.rand(vocab, dim) - 0.5) / dim, autograd=True)

    def forward(self, index):
        return self.weight.lookup(index)

    def get_parameters(self):
        return [self.weight]


class Linear:
    def __init__(self, n_in, n_out):
        self.weight = Tensor(np.random.randn(n_in, n_out) * np.sqrt(2.0 / n_in), autograd=True)
        self.bias = Tensor(np.zeros(n_out), autograd=True)

    def forward(self, x):
        return x.mm(self.weight) + self.bias.expand(len(x.data))

    def get_parameters(self):
        return [self.weight, self.bias]


class SGD:
    def __init__(self, parameters, alpha):
        self.parameters, self.alpha = parameters, alpha

    def step(self):
        for p in self.parameters:
            p.data -= p.grad.data * self.alpha
            p.grad = None


np.random.seed(1)
menu = np.random.randint(0, 30, (24, 4))
veg = (~(menu < 6).any(axis=1)).astype(float).reshape(-1, 1)

embed = Embedding(30, 8)
l1, l2 = Linear(8, 10), Linear(10, 1)
optim = SGD(embed.get_parameters() + l1.get_parameters() + l2.get_parameters(), alpha=0.05)

target = Tensor(veg)
words = embed.forward(menu)  # expect: place

for i in range(40):
    hidden = l1.forward(words.mean1()).tanh()  # expect: place
    pred = l2.forward(hidden).sigmoid()
    diff = pred - target
    loss = (diff * diff).sum()
    loss.backward()  # expect: place
    optim.step()
    if i % 10 == 0:
        print(i, loss.data)
