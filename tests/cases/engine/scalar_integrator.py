# expect: pattern = recurrent-state
# expect: raises = ValueError
# expect: carrier = unit.state, self.state, state
# expect: engine = custom
import math, random


class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op
        self._done = False

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

    def __pow__(self, k):
        out = Value(self.data ** k, (self,), f'**{k}')
        def _backward():
            self.grad += k * self.data ** (k - 1) * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), 'tanh')
        def _backward():
            self.grad += (1 - t * t) * out.grad
        out._backward = _backward
        return out

    def __neg__(self): return self * -1
    def __sub__(self, o): return self + (-o if isinstance(o, Value) else -o)
    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        topo, visited = [], set()
        def build(v):
            if v not in visited:
                visited.add(v)
                for c in v._prev:
                    build(c)
                topo.append(v)
        build(self)
        for v in topo:
            if v._prev and v._done:
                raise ValueError(f"{v._op} node has been differentiated already")
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()
            if v._prev:
                v._done = True


class Accumulator:
    """leaky integrator unit"""
    def __init__(self):
        self.w = Value(random.uniform(-1, 1))
        self.u = Value(random.uniform(-1, 1))
        self.state = Value(0.0)

    def __call__(self, x):
        self.state = (self.w * x + self.u * self.state).tanh()  # expect: place
        return self.state

    def parameters(self):
        return [self.w, self.u]


def main():
    random.seed(1)
    unit = Accumulator()
    data = [[(random.random(), 0.5) for _ in range(4)] for _ in range(3)]
    for sequence in data:
        loss = Value(0.0)
        for x, y in sequence:
            loss = loss + (unit(x) - y) ** 2
        for p in unit.parameters():
            p.grad = 0.0
        loss.backward()  # expect: place
        for p in unit.parameters():
            p.data -= 0.05 * p.grad
        print(round(loss.data, 4))
    return unit


integrator = main()
