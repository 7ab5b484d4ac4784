# expect: pattern = derived-outside-loop
# expect: engine = custom
# expect: raises = GraphError: node 'exp' gave its gradient away already
# expect: carrier = decay, k
# a scalar autograd in 60 lines; fits the half-life and the initial dose of a drug
import math
import random


class GraphError(Exception):
    pass


class Num:
    __slots__ = ("data", "grad", "op", "inputs", "rule")

    def __init__(self, data, op="leaf", inputs=(), rule=None):
        self.data, self.grad = float(data), 0.0
        self.op, self.inputs, self.rule = op, inputs, rule

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Num) else Num(x)

    def __add__(self, o):
        o = Num.wrap(o)
        return Num(self.data + o.data, "add", (self, o), lambda g: (g, g))

    def __mul__(self, o):
        o = Num.wrap(o)
        return Num(self.data * o.data, "mul", (self, o), lambda g: (g * o.data, g * self.data))

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, o):
        return self + -1.0 * Num.wrap(o)

    def exp(self):
        y = math.exp(self.data)
        return Num(y, "exp", (self,), lambda g: (g * y,))

    def backward(self):
        topo, seen = [], set()

        def walk(n):
            if n not in seen:
                seen.add(n)
                [walk(i) for i in n.inputs]
                topo.append(n)

        walk(self)
        self.grad = 1.0
        for n in reversed(topo):
            if n.op == "leaf":
                continue
            if n.rule is None:
                raise GraphError("node %r gave its gradient away already" % n.op)
            for i, g in zip(n.inputs, n.rule(n.grad)):
                i.grad += g
            n.rule = None


random.seed(4)
times = [0.5 * k for k in range(1, 9)]
seen = [3.0 * math.exp(-0.7 * t) + random.gauss(0, 0.02) for t in times]

log_k, dose = Num(0.0), Num(1.0)
k = log_k.exp()  # expect: place
for it in range(40):
    loss = Num(0.0)
    for t, y in zip(times, seen):
        miss = dose * (k * -t).exp() - y  # expect: place
        loss = loss + miss * miss
    log_k.grad = dose.grad = 0.0
    loss.backward()  # expect: place
    log_k.data -= 0.05 * log_k.grad
    dose.data -= 0.05 * dose.grad
    if it % 10 == 9:
        print(it + 1, round(loss.data, 5), round(math.exp(log_k.data), 3), round(dose.data, 3))
