# two-layer perceptron, no nn
import torch

torch.manual_seed(42)


class MLP:
    def __init__(self, sizes):
        self.params = []
        for a, b in zip(sizes, sizes[1:]):
            w = torch.randn(a, b) / a ** 0.5
            w.requires_grad_()
            self.params += [w, torch.zeros(b, requires_grad=True)]

    def __call__(self, x):
        for i in range(0, len(self.params), 2):
            x = x @ self.params[i] + self.params[i + 1]
            if i < len(self.params) - 2:
                x = x.tanh()
        return x

    def update(self, lr):
        self.params = [(p - lr * p.grad).detach().requires_grad_() for p in self.params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


net = MLP([2, 8, 8, 1])
X = torch.rand(64, 2) * 2 - 1
y = (X[:, :1] * X[:, 1:] > 0).float()
for epoch in range(5):
    out = net(X)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(out, y)
    net.zero_grad()
    loss.backward()
    net.update(0.1)
    print(epoch, loss.item())
