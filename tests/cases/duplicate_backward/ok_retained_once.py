import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x = torch.randn(6, 3)
loss = torch.sigmoid(x @ w).log().neg().mean()
loss.backward(retain_graph=True)
once = w.grad.clone()
loss.backward()
print("twice the gradient:", torch.allclose(w.grad, 2 * once))
