"""A stream of object requests as a video CDN's edge node sees it: popularity drifts, fads pass."""
import random
from collections import OrderedDict

FEATURES = 4


class EdgeNode:
    """A cache of few slots. On a miss with a full cache, somebody has to say which slot goes."""

    def __init__(self, slots=6, objects=40, seed=0):
        self.rng = random.Random(seed)
        self.slots, self.objects = slots, objects
        self.shelf = OrderedDict()
        self.clock = 0
        self.counts = [0] * objects
        self.popular = self.rng.sample(range(objects), 8)

    def next_request(self):
        self.clock += 1
        if self.clock % 60 == 0:
            self.popular[self.rng.randrange(8)] = self.rng.randrange(self.objects)
        hot = self.rng.random() < 0.8
        item = self.rng.choice(self.popular) if hot else self.rng.randrange(self.objects)
        self.counts[item] += 1
        return item

    def hit(self, item):
        if item in self.shelf:
            self.shelf[item]["used"] = self.clock
            self.shelf[item]["hits"] += 1
            return True
        return False

    def describe(self):
        """One row a slot: recency, hits since stored, age, share of all requests."""
        rows = []
        for item, card in self.shelf.items():
            rows.append([(self.clock - card["used"]) / 50, card["hits"] / 10,
                         (self.clock - card["born"]) / 100, 20 * self.counts[item] / self.clock])
        return rows

    def store(self, item, evict=None):
        if evict is not None:
            del self.shelf[list(self.shelf)[evict]]
        self.shelf[item] = {"used": self.clock, "born": self.clock, "hits": 0}

    @property
    def full(self):
        return len(self.shelf) >= self.slots
