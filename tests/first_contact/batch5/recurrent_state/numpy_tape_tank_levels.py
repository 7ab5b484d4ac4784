# expect: pattern = recurrent-state
# expect: engine = custom
# expect: raises = RuntimeError: this tape has been played already
# expect: carrier = level, h, state
"""A hand-made reverse mode over numpy, and a leaky-unit recurrent model of water tanks trained with it."""
import numpy as np


class Var:
  def __init__(self, data, parents=(), pull=None):
    self.data = np.asarray(data, dtype=float)
    self.grad = np.zeros_like(self.data)
    self.parents, self.pull = parents, pull
    self.played = False

  def const(self):
    """The same numbers without a past."""
    return Var(self.data)

  def __add__(self, other):
    def pull(g):
      return g, _fit(g, other.data.shape)
    return Var(self.data + other.data, (self, other), pull)

  def __sub__(self, other):
    return Var(self.data - other.data, (self, other), lambda g: (g, -g))

  def __mul__(self, other):
    return Var(self.data * other.data, (self, other),
           lambda g: (_fit(g * other.data, self.data.shape), _fit(g * self.data, other.data.shape)))

  def __matmul__(self, other):
    return Var(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

  def tanh(self):
    y = np.tanh(self.data)
    return Var(y, (self,), lambda g: (g * (1 - y * y),))

  def mean(self):
    n = self.data.size
    return Var(self.data.mean(), (self,), lambda g: (np.full_like(self.data, g / n),))

  def backprop(self):
    order, seen = [], set()

    def visit(v):
      if id(v) not in seen:
        seen.add(id(v))
        for p in v.parents:
          visit(p)
        order.append(v)

    visit(self)
    self.grad = np.ones_like(self.data)
    for v in reversed(order):
      if v.pull is None:
        continue
      if v.played:
        raise RuntimeError("this tape has been played already")
      v.played = True
      for p, g in zip(v.parents, v.pull(v.grad)):
        p.grad = p.grad + g


def _fit(g, shape):
  while g.ndim > len(shape):
    g = g.sum(0)
  return g


class Tanks:
  def __init__(self, rng, n=8):
    self.w_in = Var(rng.normal(size=(2, n)) * 0.5)
    self.w_h = Var(rng.normal(size=(n, n)) * 0.3)
    self.bias = Var(np.zeros(n))
    self.w_out = Var(rng.normal(size=(n, 1)) * 0.5)

  def weights(self):
    return [self.w_in, self.w_h, self.bias, self.w_out]

  def step(self, x, level):
    level = (Var(x) @ self.w_in + level @ self.w_h + self.bias).tanh()
    return level @ self.w_out, level


rng = np.random.default_rng(15)
net = Tanks(rng)
level = Var(np.zeros((4, 8)))
inflow = rng.uniform(size=(40, 4, 2))
depth = np.cumsum(inflow[:, :, :1] - inflow[:, :, 1:], axis=0) * 0.3
for segment in range(8):
  loss = Var(0.0)
  for t in range(segment * 5, segment * 5 + 5):
    out, level = net.step(inflow[t], level)  # expect: place
    miss = out - Var(depth[t])
    loss = (miss * miss).mean() + loss
  loss.backprop()  # expect: place
  for w in net.weights():
    w.data = w.data - 0.01 * w.grad
    w.grad = np.zeros_like(w.data)
  print("segment", segment, round(float(loss.data), 4))
