# A backward for each task is fine while each task adapts by itself.
import torch
import torch.nn.functional as F

torch.manual_seed(1)
w = torch.randn(3, 1, requires_grad=True)
meta = torch.optim.Adam([w], lr=0.01)
for _ in range(3):
    meta.zero_grad()
    for _ in range(4):
        x = torch.randn(5, 3)
        y = x.sum(1, keepdim=True).sin()
        (g,) = torch.autograd.grad(F.mse_loss(torch.tanh(x @ w), y), w, create_graph=True)
        F.mse_loss(torch.tanh(x @ (w - 0.1 * g)), y).backward()
    meta.step()
