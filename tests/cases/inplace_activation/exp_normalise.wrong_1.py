import numpy as np
import torch

rng = np.random.default_rng(0)
X = torch.tensor(rng.normal(size=(90, 5)), dtype=torch.float32)
Y = torch.tensor(rng.integers(0, 3, size=90))

W = torch.zeros(5, 3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([W, b], lr=0.3)


def softmax(logits):
    p = torch.exp(logits - logits.max(dim=1, keepdim=True).values)
    p.data /= p.data.sum(dim=1, keepdim=True)
    return p


def nll(p, target):
    return -torch.log(p[torch.arange(len(target)), target]).mean()


for epoch in range(10):
    probs = softmax(X @ W + b)
    loss = nll(probs, Y)
    opt.zero_grad()
    loss.backward()
    opt.step()

print("final", float(loss))
