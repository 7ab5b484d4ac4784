"""Bookkeeping of a training epoch."""


class Progress:
    """Sample-weighted mean of the loss since the beginning of the epoch."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, loss, n):
        self.total = self.total + loss * n
        self.count += n
        return loss

    def mean(self):
        return self.total / self.count

    def __str__(self):
        return f"mean loss {float(self.mean()):.5f} over {self.count} runs"
