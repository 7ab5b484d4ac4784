"""Calibrate a two-parameter reservoir model of a small catchment, year by year.

The gradients come from the little reverse-mode class below (NumPy only).
"""
import numpy as np


class Var:
    def __init__(self, data, sources=(), pull=None):
        self.data = np.asarray(data, dtype=float)
        self.sources = sources
        self.pull = pull
        self.grad = None
        self.walked = False

    @staticmethod
    def wrap(other):
        return other if isinstance(other, Var) else Var(other)

    def __add__(self, other):
        other = Var.wrap(other)
        return Var(self.data + other.data, (self, other), lambda g: (g, g))

    def __sub__(self, other):
        other = Var.wrap(other)
        return Var(self.data - other.data, (self, other), lambda g: (g, -g))

    def __mul__(self, other):
        other = Var.wrap(other)
        a, b = self.data, other.data
        return Var(a * b, (self, other), lambda g: (g * b, g * a))

    __radd__ = __add__
    __rmul__ = __mul__

    def sigmoid(self):
        s = 1.0 / (1.0 + np.exp(-self.data))
        return Var(s, (self,), lambda g: (g * s * (1 - s),))

    def backward(self):
        order, seen = [], set()
        stack = [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((s, False) for s in node.sources)
        flow = {id(self): np.ones_like(self.data)}
        for node in reversed(order):
            g = flow.get(id(node))
            if node.pull is None:
                if g is not None:
                    node.grad = g if node.grad is None else node.grad + g
                continue
            if node.walked:
                raise RuntimeError("this node has already been differentiated; "
                                   "its local derivatives were dropped")
            for src, part in zip(node.sources, node.pull(g)):
                flow[id(src)] = flow.get(id(src), 0.0) + part
            node.walked = True


class Descent:
    def __init__(self, params, rate):
        self.params, self.rate = params, rate

    def clear(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            if p.grad is not None:
                p.data = p.data - self.rate * p.grad


def make_record(years, rng):
    rain = rng.gamma(2.0, 0.6, size=(years, 12))
    flow, level = np.zeros_like(rain), 2.0
    for y in range(years):
        for m in range(12):
            out = 0.35 * level
            level = level - out + 0.8 * rain[y, m]
            flow[y, m] = out
    return rain, flow + 0.01 * rng.standard_normal(flow.shape)


def simulate_year(rain, storage, drain, catch):
    runoff = []
    for depth in rain:
        out = storage * drain
        storage = storage - out + catch * depth
        runoff.append(out)
    return runoff, storage


def calibrate(years=20):
    rng = np.random.default_rng(4)
    rain, gauge = make_record(years, rng)
    raw_drain, raw_catch = Var(0.4), Var(0.0)
    descent = Descent([raw_drain, raw_catch], rate=0.8)
    storage = Var(2.0)
    for y in range(years):
        drain, catch = raw_drain.sigmoid(), raw_catch.sigmoid()
        runoff, storage = simulate_year(rain[y], storage, drain, catch)
        misfit = Var(0.0)
        for got, want in zip(runoff, gauge[y]):
            diff = got - want
            misfit = misfit + diff * diff * (1 / 12)
        descent.clear()
        misfit.backward()
        descent.step()
        storage = Var(storage.data)
        print(f"year {y:2d}  misfit {float(misfit.data):.4f}  "
              f"drain {float(drain.data):.3f}  catch {float(catch.data):.3f}")
    return raw_drain, raw_catch


if __name__ == "__main__":
    drain_logit, catch_logit = calibrate()
