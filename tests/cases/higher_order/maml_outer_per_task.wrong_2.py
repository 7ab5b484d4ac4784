# MAML on sines with one adaptation shared by several query batches.
import torch
import torch.nn.functional as F

torch.manual_seed(0)
params = [torch.randn(16, 1) * 0.5, torch.zeros(16), torch.randn(1, 16) * 0.5, torch.zeros(1)]
params = [p.requires_grad_() for p in params]
meta_opt = torch.optim.Adam(params, lr=1e-3)
INNER_LR = 0.05


def net(x, w):
    h = torch.tanh(F.linear(x, w[0], w[1]))
    return F.linear(h, w[2], w[3])


def adapt(x, y):
    loss = F.mse_loss(net(x, params), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    return [p - INNER_LR * g for p, g in zip(params, grads)]


for it in range(3):
    meta_opt.zero_grad()
    phase = torch.rand(1) * 3
    x_s = torch.rand(10, 1) * 6 - 3
    fast = adapt(x_s, torch.sin(x_s + phase))
    for _ in range(2):
        x_q = torch.rand(10, 1) * 6 - 3
        query_loss = F.mse_loss(net(x_q, fast), torch.sin(x_q + phase))
        break
    query_loss.backward()
    meta_opt.step()
