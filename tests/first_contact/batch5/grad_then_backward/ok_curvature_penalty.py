"""A ridge line that should be smooth: Hutchinson's estimate of the input Hessian is part of the loss."""
import torch
import torch.nn as nn


def curvature(net, x, probes=2):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    total = 0
    for _ in range(probes):
        v = torch.randint(0, 2, x.shape).float() * 2 - 1
        (hv,) = torch.autograd.grad((g * v).sum(), x, create_graph=True)
        total = total + (hv * v).sum(1).pow(2).mean()
    return total / probes


def main():
    torch.manual_seed(66)
    net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for it in range(8):
        x = torch.rand(30, 2) * 2 - 1
        height = (x[:, :1] - x[:, 1:]).abs()
        fit = (net(x) - height).pow(2).mean()
        rough = curvature(net, x[:10])
        opt.zero_grad()
        (fit + 1e-3 * rough).backward()
        opt.step()
    print(round(fit.item(), 4), round(rough.item(), 4))


if __name__ == "__main__":
    main()
