import torch

torch.manual_seed(0)
N = 40
x = torch.rand(N, 2)
y = x @ torch.tensor([[3.0], [-1.0]]) + 2.0

w = torch.randn(2, 1, requires_grad=True)
b = torch.randn(1, requires_grad=True)
lr = 0.2

for i in range(15):
    y_hat = x @ w + b
    loss = torch.mean((y_hat - y) ** 2)
    loss.backward()
    w = (w - lr * w.grad).detach().requires_grad_()
    b = (b - lr * b.grad).detach().requires_grad_()
    print("iteration", i, "loss", loss.item())
