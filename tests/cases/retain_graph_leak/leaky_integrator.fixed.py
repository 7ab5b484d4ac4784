# An eligibility trace with a learned gain; weights are moved by hand, through .data.
import torch


class Integrator:
    def __init__(self, size):
        self.gain = torch.full((size,), 0.5, requires_grad=True)
        self.read = torch.randn(size, requires_grad=True)
        self.trace = torch.zeros(size)

    def __call__(self, x):
        self.trace = torch.tanh(0.9 * self.trace + self.gain * x)
        return self.read @ self.trace

    def parameters(self):
        return [self.gain, self.read]


def train(model, xs, ys, lr=0.05):
    for x, y in zip(xs, ys):
        error = (model(x) - y) ** 2
        error.backward()
        model.trace = model.trace.detach()
        for p in model.parameters():
            p.data -= lr * p.grad
            p.grad = None
    return error.item()


torch.manual_seed(0)
xs = torch.randn(12, 6)
print(train(Integrator(6), xs, xs.mean(1)))
