# expect: pattern = recurrent-state
# expect: raises = RuntimeError: this value was backpropagated already: cannot backprop twice
# expect: carrier = state
import math


class Var:
    def __init__(self, data, track=False, made_of=()):
        self.data, self.track, self.made_of = data, track, made_of
        self.grad, self.used = 0.0, False

    def __add__(self, other):
        return Var(self.data + other.data, True, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Var(self.data * other.data, True, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Var(t, True, ((self, 1 - t * t),))

    def backward(self, grad=1.0):
        if self.used:
            raise RuntimeError("this value was backpropagated already: cannot backprop twice")
        self.used = bool(self.made_of)
        self.grad += grad
        for value, factor in self.made_of:
            value.backward(grad * factor)


class Cell:
    def __init__(self):
        self.w, self.u = Var(0.5, track=True), Var(0.3, track=True)

    def step(self, x, state):
        return (x * self.w + state * self.u).tanh()


class Descent:
    def __init__(self, values):
        self.values = values

    def update(self):
        for value in self.values:
            value.data, value.grad = value.data - 0.1 * value.grad, 0.0


cell = Cell()
descent = Descent([cell.w, cell.u])
windows = [[0.1, 0.4], [0.2, 0.9], [0.3, 0.5]]
goals = [0.2, 0.1, 0.6]
# paste: begin
state = Var(0.0, track=True)
for window, goal in zip(windows, goals):
    for number in window:
        state = cell.step(Var(number, track=True), state)  # expect: place
    error = state + Var(-goal)
    cost = error * Var(0.5)
    cost.backward()  # expect: place
    descent.update()
# paste: end
