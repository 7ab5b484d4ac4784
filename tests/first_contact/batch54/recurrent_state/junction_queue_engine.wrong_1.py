# expect: pattern = recurrent-state
# expect: engine = custom
# expect: raises = RuntimeError: this part of the tape has been played already
# expect: carrier = belief
"""Forecast the queue at a road junction, minute by minute.

I wanted to see how autograd works, so this is a tape of numpy arrays; nothing
but numpy is needed.
"""
import numpy as np

rng = np.random.default_rng(15)


class Reel:
    """An array, the reels it was made of and how to pass a slope back to them."""

    def __init__(self, data, sources=(), pull=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.slope = np.zeros_like(self.data)
        self.sources = sources
        self.pull = pull
        self.played = False

    def __add__(self, other):
        def pull(s):
            return s, s.sum(axis=0) if other.data.ndim < s.ndim else s
        return Reel(self.data + other.data, (self, other), pull)

    def __matmul__(self, other):
        return Reel(self.data @ other.data, (self, other),
                    lambda s: (s @ other.data.T, self.data.T @ s))

    def tanh(self):
        y = np.tanh(self.data)
        return Reel(y, (self,), lambda s: (s * (1 - y * y),))

    def half_square_to(self, goal):
        gap = self.data - goal
        return Reel(0.5 * np.mean(gap ** 2), (self,), lambda s: (s * gap / gap.size,))

    def rewind(self):
        """Walk the tape from here back to the weights."""
        order, seen = [], set()

        def visit(reel):
            if id(reel) in seen:
                return
            seen.add(id(reel))
            for src in reel.sources:
                visit(src)
            order.append(reel)

        visit(self)
        self.slope = np.ones_like(self.data)
        for reel in reversed(order):
            if reel.pull is None:
                continue
            for src, part in zip(reel.sources, reel.pull(reel.slope)):
                src.slope = src.slope + part


class QueueCell:
    def __init__(self, n_in, n_hid):
        self.wx = Reel(0.4 * rng.standard_normal((n_in, n_hid)))
        self.wh = Reel(0.4 * rng.standard_normal((n_hid, n_hid)))
        self.b = Reel(np.zeros(n_hid))
        self.wo = Reel(0.4 * rng.standard_normal((n_hid, 1)))
        self.weights = [self.wx, self.wh, self.b, self.wo]

    def minute(self, counts, belief):
        belief = (Reel(counts) @ self.wx + belief @ self.wh + self.b).tanh()  # expect: place
        return belief @ self.wo, belief


def morning(minutes, lanes=6):
    queue = np.zeros((lanes, 1))
    for t in range(minutes):
        arrive = 0.5 + 0.5 * np.sin(t / 9) + 0.1 * rng.standard_normal((lanes, 1))
        green = np.full((lanes, 1), float(t % 4 < 2))
        queue = np.clip(0.9 * queue + 0.3 * arrive - 0.4 * green, 0, 2)
        yield np.hstack([arrive, green]), queue


def train(days=12, minutes=40, window=8, rate=0.15):
    cell = QueueCell(2, 10)
    for day in range(days):
        belief = Reel(np.zeros((6, 10)))
        day_loss, cost, filled = 0.0, None, 0
        for counts, queue in morning(minutes):
            guess, belief = cell.minute(counts, belief)
            term = guess.half_square_to(queue)
            cost = term if cost is None else cost + term
            filled += 1
            if filled == window:
                for w in cell.weights:
                    w.slope = np.zeros_like(w.data)
                cost.rewind()  # expect: place
                for w in cell.weights:
                    w.data -= rate * w.slope / window
                day_loss += float(cost.data)
                cost, filled = None, 0  # expect: place
        print(f"day {day:2d}  loss {day_loss / minutes:.4f}")


if __name__ == "__main__":
    train()
