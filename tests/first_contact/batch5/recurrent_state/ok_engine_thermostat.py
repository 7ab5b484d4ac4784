# my own tiny reverse mode (floats only) and a thermostat model that carries its state as a plain number
import random


class N:
    def __init__(self, value, args=(), partials=()):
        self.value, self.args, self.partials = value, args, partials
        self.grad, self.done = 0.0, False

    def __add__(self, o):
        return N(self.value + o.value, (self, o), (1.0, 1.0))

    def __sub__(self, o):
        return N(self.value - o.value, (self, o), (1.0, -1.0))

    def __mul__(self, o):
        return N(self.value * o.value, (self, o), (o.value, self.value))

    def backward(self):
        if self.done:
            raise RuntimeError("cannot backpropagate twice through one result")
        todo, order = [self], []
        counts = {}
        while todo:
            n = todo.pop()
            for a in n.args:
                counts[a] = counts.get(a, 0) + 1
                if counts[a] == 1:
                    todo.append(a)
        ready, self.grad = [self], 1.0
        while ready:
            n = ready.pop()
            n.done = bool(n.args)
            for a, d in zip(n.args, n.partials):
                a.grad += n.grad * d
                counts[a] -= 1
                if counts[a] == 0:
                    ready.append(a)


random.seed(2)
loss_of_heat, gain = N(0.5), N(0.1)
temp, true = 20.0, 20.0
for hour in range(60):
    on = random.random() < 0.5
    state = N(temp)
    nxt = state - loss_of_heat * (state - N(10.0)) * N(0.1) + gain * N(float(on))
    true = true - 0.03 * (true - 10) + 0.6 * on
    miss = nxt - N(true)
    (miss * miss).backward()
    for p in (loss_of_heat, gain):
        p.value -= 0.005 * max(-50.0, min(50.0, p.grad))
        p.grad = 0.0
    temp = true
print(round(loss_of_heat.value, 3), round(gain.value, 3))
