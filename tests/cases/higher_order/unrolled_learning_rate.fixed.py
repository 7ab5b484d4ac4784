# A learned step size: unroll gradient descent, differentiate the end through the unrolled steps.
import torch

torch.manual_seed(5)
A = torch.randn(6, 3)
b = torch.randn(6)
log_lr = torch.tensor(-3.0, requires_grad=True)
meta = torch.optim.SGD([log_lr], lr=0.1)


def inner_loss(w):
    return (A @ w - b).pow(2).mean() + 0.1 * w.pow(4).sum()


theta = torch.zeros(3, requires_grad=True)
for episode in range(4):
    meta.zero_grad()
    for _ in range(3):
        (g,) = torch.autograd.grad(inner_loss(theta), theta, create_graph=True)
        theta = theta - log_lr.exp() * g
    meta_loss = inner_loss(theta)
    meta_loss.backward()
    meta.step()
    theta = theta.detach().requires_grad_()
    print(episode, meta_loss.item())
