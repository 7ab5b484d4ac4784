# expect: pattern = none
# expect: raises = nothing
# gradients from two independent graphs add up
class Num:
    def __init__(self, x, up=()):
        self.x, self.up, self.dx, self.closed = x, up, 0.0, False

    def __add__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.x + o.x, ((self, lambda: 1.0), (o, lambda: 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.x * o.x, ((self, lambda: o.x), (o, lambda: self.x)))

    def backward(self, seed=1.0):
        if self.up and self.closed:
            raise RuntimeError("closed")
        self.dx += seed
        for n, d in self.up:
            n.backward(seed * d()) if not n.up else n._push(seed * d())
        self.closed = bool(self.up)

    def _push(self, seed):
        for n, d in self.up:
            (n.backward if not n.up else n._push)(seed * d())


w, b = Num(0.4), Num(0.1)
samples = [(1.0, 2.0), (2.0, 3.0), (-1.0, 0.5)]
for epoch in range(4):
    w.dx = b.dx = 0.0
    for x, y in samples:
        err = w * x + b + -y
        (err * err).backward()
    penalty = w * w * 0.01
    penalty.backward()
    w.x -= 0.05 * w.dx
    b.x -= 0.05 * b.dx
    print(epoch, w.x, b.x)
