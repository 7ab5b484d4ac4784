# expect: pattern = recurrent-state
# expect: engine = custom
# expect: carrier = charge, self.charge, cell.charge
# expect: raises = RuntimeError: tape is spent
"""Fit a battery cell's capacity and resistance to its measured voltage, window by window."""
import math
import random


class Num:
    def __init__(self, value, parents=()):
        self.value = float(value)
        self.parents = parents
        self.slope = 0.0
        self.spent = False

    def plus(self, other):
        return Num(self.value + other.value, ((self, 1.0), (other, 1.0)))

    def times(self, other):
        return Num(self.value * other.value, ((self, other.value), (other, self.value)))

    def scaled(self, factor):
        return Num(self.value * factor, ((self, factor),))

    def exp(self):
        out = math.exp(self.value)
        return Num(out, ((self, out),))

    def pull(self):
        order, met = [], set()

        def visit(node):
            if id(node) in met:
                return
            met.add(id(node))
            if node.parents and node.spent:
                raise RuntimeError("tape is spent")
            for parent, _ in node.parents:
                visit(parent)
            order.append(node)

        visit(self)
        for node in order:
            node.slope = 0.0 if node.parents else node.slope
        self.slope = 1.0
        for node in reversed(order):
            for parent, local in node.parents:
                parent.slope += local * node.slope
            node.spent = True


class Cell:
    def __init__(self):
        self.inverse_size = Num(-3.0)
        self.resistance = Num(0.3)
        self.charge = Num(0.9)

    def volts(self, current):
        """The voltage under a load; the load then takes from the charge."""
        seen = self.charge.plus(self.resistance.scaled(-current)).plus(Num(3.0))
        self.charge = self.charge.plus(self.inverse_size.exp().scaled(-current))  # expect: place
        return seen


random.seed(6)
cell = Cell()
true_charge = 0.9
for window in range(12):
    error = Num(0.0)
    for _ in range(5):
        current = random.uniform(-0.8, 1.0)
        measured = 3.0 + true_charge - 0.2 * current
        true_charge -= current / 30
        gap = cell.volts(current).plus(Num(-measured))  # expect: place
        error = error.plus(gap.times(gap))
    for learnt in (cell.inverse_size, cell.resistance):
        learnt.slope = 0.0
    error.pull()  # expect: place
    for learnt in (cell.inverse_size, cell.resistance):
        learnt.value -= 0.05 * learnt.slope
    print(window, round(error.value, 5), round(cell.resistance.value, 3))
