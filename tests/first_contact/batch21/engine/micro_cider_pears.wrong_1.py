# cider or perry? a two feature classifier on my own 100 line autograd
import math
import random


class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = _children
        self._op, self._spent = _op, False

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), 'tanh')

        def _backward():
            self.grad += (1 - t * t) * out.grad
        out._backward = _backward
        return out

    def softplus(self):
        out = Value(max(self.data, 0) + math.log1p(math.exp(-abs(self.data))), (self,), 'softplus')

        def _backward():
            self.grad += out.grad / (1 + math.exp(-self.data))
        out._backward = _backward
        return out

    def __neg__(self): return self * -1.0
    def __radd__(self, other): return self + other
    def __rmul__(self, other): return self * other

    def backward(self):
        topo, visited = [], set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)
        build(self)
        if any(v._spent for v in topo):
            raise RuntimeError('these nodes have already been backpropagated')
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()
            if v._op:  # let go of the closures, leaves stay
                v._backward, v._spent = None, True


class Neuron:
    def __init__(self, nin, nonlin=True):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0.0)
        self.nonlin = nonlin

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.tanh() if self.nonlin else act


class MLP:
    def __init__(self, nin, nouts):
        sz = [nin] + nouts
        self.layers = [[Neuron(sz[i], i != len(nouts) - 1) for _ in range(sz[i + 1])] for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = [n(x) for n in layer]
        return x[0]

    def parameters(self):
        return [p for layer in self.layers for n in layer for p in n.w + [n.b]]


random.seed(1337)
fruit = [(random.gauss(m, .6), random.gauss(-m, .6), y) for m, y in [(.7, 1), (-.7, -1)] for _ in range(12)]
model = MLP(2, [5, 1])

# L2 regularization
alpha = 1e-2
reg = alpha * sum(p * p for p in model.parameters())

for k in range(12):
    random.shuffle(fruit)
    losses = [(-y * model((sugar, acid))).softplus() for sugar, acid, y in fruit[:12]]
    data_loss = sum(losses) * (1.0 / len(losses))
    total_loss = data_loss + reg.data
    for p in model.parameters():
        p.grad = 0.0
    total_loss.backward()
    for p in model.parameters():
        p.data -= (0.5 - 0.3 * k / 12) * p.grad
    print(f'step {k} loss {total_loss.data:.4f}')
