# expect: pattern = recurrent-state
# expect: raises = RuntimeError: sweep: these records were used up by an earlier sweep
# expect: carrier = level
# expect: engine = custom
"""River levels from rain with a leaky bucket; reverse mode by hand, walked by one plain function."""
import numpy as np

USED_UP = object()


class Quantity:
    def __init__(self, value, records=()):
        self.value = np.asarray(value, dtype=float)
        self.slope = np.zeros_like(self.value)
        self.records = records  # pairs (input, pullback)

    def __add__(self, other):
        return Quantity(self.value + other.value, [(self, lambda s: s), (other, lambda s: s)])

    def __mul__(self, other):
        a, b = self.value, other.value
        return Quantity(a * b, [(self, lambda s: s * b), (other, lambda s: s * a)])


def squared_error(guess, truth):
    gap = guess.value - truth
    return Quantity((gap ** 2).mean(), [(guess, lambda s: s * 2 * gap / gap.size)])


def order_of(root):
    seen, order, stack = set(), [], [(root, False)]
    while stack:
        item, done = stack.pop()
        if done:
            order.append(item)
        elif id(item) not in seen:
            seen.add(id(item))
            if item.records is USED_UP:
                raise RuntimeError("sweep: these records were used up by an earlier sweep")
            stack.append((item, True))
            stack.extend((source, False) for source, _ in item.records)
    return order[::-1]


def sweep(root):
    root.slope = np.ones_like(root.value)
    for item in order_of(root):
        for source, pullback in item.records:
            share = np.asarray(pullback(item.slope))
            if source.value.ndim < share.ndim:
                share = share.sum()
            source.slope = source.slope + share
        if item.records:
            item.records = USED_UP


rng = np.random.default_rng(8)
rain = rng.gamma(0.6, 1.0, size=(8, 5, 4))  # weeks, days, gauges
truth = np.zeros((8, 5, 4))
water = np.zeros(4)
for week in range(8):
    for day in range(5):
        water = 0.8 * water + 0.4 * rain[week, day]
        truth[week, day] = water

keep, gain = Quantity(0.5), Quantity(0.1)
level = Quantity(np.zeros(4))  # expect: place
for week in range(8):
    total = Quantity(0.0)
    for day in range(5):
        level = keep * level + gain * Quantity(rain[week, day])  # expect: place
        total = total + squared_error(level, truth[week, day])
    keep.slope, gain.slope = np.zeros(()), np.zeros(())
    sweep(total)  # expect: place
    for weight in (keep, gain):
        weight.value = weight.value - 0.01 * weight.slope
    print(week, round(float(total.value), 4), float(keep.value), float(gain.value))
