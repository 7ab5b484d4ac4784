# expect: pattern = none
# expect: raises = nothing
import torch

torch.manual_seed(1)
layers = [torch.randn(4, 8) * 0.5, torch.zeros(8), torch.randn(8, 1) * 0.5, torch.zeros(1)]
for p in layers:
    p.requires_grad_()


def net(x):
    w1, b1, w2, b2 = layers
    return torch.tanh(x @ w1 + b1) @ w2 + b2


for step in range(10):
    x = torch.randn(32, 4)
    loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in layers:
            p -= 0.05 * p.grad
            p.grad = None
print(loss.item())
