# Newton-CG: each conjugate-gradient iteration asks for another Hessian-vector product.
import torch
from torch import nn

torch.manual_seed(70)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=1.0)
X = torch.randn(20, 3)
Y = X.prod(1, keepdim=True)


def flatten(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def hvp(flat_grad, v):
    return flatten(torch.autograd.grad(flat_grad @ v, params)) + 0.1 * v


def conjugate_gradient(flat_grad, iters=1):
    x = torch.zeros_like(flat_grad)
    r = -flat_grad.detach()
    p, rs = r.clone(), r @ r
    for _ in range(iters):
        Hp = hvp(flat_grad, p)
        alpha = rs / (p @ Hp).abs().clamp(min=1e-8)
        x, r = x + alpha * p, r - alpha * Hp
        rs, old = r @ r, rs
        p = r + rs / old * p
    return x


for it in range(2):
    loss = (model(X) - Y).pow(2).mean()
    flat_grad = flatten(torch.autograd.grad(loss, params, create_graph=True))
    direction = conjugate_gradient(flat_grad)
    offset = 0
    for p in params:
        p.grad = -0.1 * direction[offset : offset + p.numel()].view_as(p)
        offset += p.numel()
    optimizer.step()
    print(it, loss.item())
