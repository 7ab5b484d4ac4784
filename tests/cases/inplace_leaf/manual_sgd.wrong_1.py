import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 50).unsqueeze(1)
y = 1.7 * x + 0.4 + 0.1 * torch.randn(50, 1)

w = torch.zeros(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
learning_rate = 0.1

for epoch in range(20):
    prediction = x @ w + b
    loss = ((prediction - y) ** 2).mean()
    loss.backward()

    w = w - learning_rate * w.grad
    b = b - learning_rate * b.grad

    w.grad.zero_()
    b.grad.zero_()

print("w =", w.item(), "b =", b.item())
