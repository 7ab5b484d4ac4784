import torch
import torch.nn.functional as F

torch.manual_seed(6)
meta_w = torch.randn(1, 12).mul_(0.5).requires_grad_()
meta_b = torch.zeros(12, requires_grad=True)
meta_v = torch.randn(12, 1).mul_(0.5).requires_grad_()
meta_optimizer = torch.optim.Adam([meta_w, meta_b, meta_v], lr=5e-3)


def network(x, weights):
    w, b, v = weights
    return torch.tanh(x @ w + b) @ v


def inner_update(x, y, lr=0.1):
    fast = [p.clone() for p in (meta_w, meta_b, meta_v)]
    loss = F.mse_loss(network(x, (meta_w, meta_b, meta_v)), y)
    grads = torch.autograd.grad(loss, (meta_w, meta_b, meta_v))
    return [p - lr * g for p, g in zip(fast, grads)]


for task in range(4):
    slope = torch.rand(1) * 2 - 1
    x = torch.rand(16, 1)
    weights = inner_update(x[:8], slope * x[:8])
    meta_loss = F.mse_loss(network(x[8:], weights), slope * x[8:])
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()
    print(task, meta_loss.item())
