# Deep equilibrium layer on 8x8 patches of moth wings (eye spot / band / plain).
# Forward: Anderson acceleration to a fixed point, backward: implicit function theorem via a hook.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(31)


def anderson(f, x0, m=4, lam=1e-4, max_iter=15, tol=1e-3, beta=1.0):
    bsz = x0.shape[0]
    X = torch.zeros(bsz, m, x0[0].numel())
    R = torch.zeros(bsz, m, x0[0].numel())
    X[:, 0], R[:, 0] = x0.reshape(bsz, -1), f(x0).reshape(bsz, -1)
    X[:, 1], R[:, 1] = R[:, 0], f(R[:, 0].reshape(x0.shape)).reshape(bsz, -1)
    H = torch.zeros(bsz, m + 1, m + 1)
    H[:, 0, 1:] = H[:, 1:, 0] = 1
    y = torch.zeros(bsz, m + 1, 1)
    y[:, 0] = 1
    for k in range(2, max_iter):
        n = min(k, m)
        G = R[:, :n] - X[:, :n]
        H[:, 1:n + 1, 1:n + 1] = torch.bmm(G, G.transpose(1, 2)) + lam * torch.eye(n)
        alpha = torch.linalg.solve(H[:, :n + 1, :n + 1], y[:, :n + 1])[:, 1:n + 1, 0]
        X[:, k % m] = beta * (alpha[:, None] @ R[:, :n])[:, 0] + (1 - beta) * (alpha[:, None] @ X[:, :n])[:, 0]
        R[:, k % m] = f(X[:, k % m].reshape(x0.shape)).reshape(bsz, -1)
        res = (R[:, k % m] - X[:, k % m]).norm() / (1e-5 + R[:, k % m].norm())
        if res < tol:
            break
    return R[:, k % m].reshape(x0.shape)


class WingCell(nn.Module):
    def __init__(self, ch, inner):
        super().__init__()
        self.conv1 = nn.Conv2d(ch, inner, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(inner, ch, 3, padding=1, bias=False)
        self.norm1 = nn.GroupNorm(2, inner)
        self.norm2 = nn.GroupNorm(2, ch)
        self.conv1.weight.data.normal_(0, 0.05)
        self.conv2.weight.data.normal_(0, 0.05)

    def forward(self, z, x):
        return torch.tanh(0.5 * z + 0.5 * self.norm2(x + self.conv2(self.norm1(F.relu(self.conv1(z))))))


class DEQ(nn.Module):
    def __init__(self, cell, solver):
        super().__init__()
        self.cell, self.solver = cell, solver

    def forward(self, x):
        with torch.no_grad():
            z = self.solver(lambda z: self.cell(z, x), torch.zeros_like(x))
        z = self.cell(z, x)

        z0 = z.clone().detach().requires_grad_()
        f0 = self.cell(z0, x)

        def implicit(grad):
            def vjp(y):
                return torch.autograd.grad(f0, z0, y, retain_graph=True)[0] + grad
            return self.solver(vjp, grad)

        if z.requires_grad:
            z.register_hook(implicit)
        return z


model = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.GroupNorm(2, 4),
    DEQ(WingCell(4, 8), anderson),
    nn.AvgPool2d(4),
    nn.Flatten(),
    nn.Linear(16, 3),
)


def wings(n):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing='ij')
    kinds = torch.stack([(-8 * (xx ** 2 + yy ** 2)).exp(), (-8 * yy ** 2).exp(), torch.zeros(8, 8)])
    lab = torch.randint(3, (n,))
    return (kinds[lab] + 0.2 * torch.randn(n, 8, 8)).unsqueeze(1), lab


opt = optim.Adam(model.parameters(), lr=2e-3)
for it in range(12):
    X, lab = wings(16)
    out = model(X)
    loss = F.cross_entropy(out, lab)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 4 == 3:
        print('%3d  %.4f' % (it + 1, loss.item()))
