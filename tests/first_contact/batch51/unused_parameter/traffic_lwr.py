# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph
# expect: carrier = x, t
"""Physics-informed reconstruction of traffic density from a few loop detectors.

LWR model with Greenshields' flux and a little diffusion:
    rho_t + (1 - 2 rho) * vf * rho_x = eps * rho_xx,      x, t in [0, 1]
"""
import torch
import torch.nn as nn
from torch.autograd import grad


def exact(X, vf=1.0, eps=0.02):
    """Travelling wave between 0.15 (upstream) and 0.7 (downstream)."""
    lo, hi = 0.15, 0.7
    speed = vf * (1 - lo - hi)
    xi = X[:, 0:1] - 0.45 - speed * X[:, 1:2]
    return lo + (hi - lo) / (1 + torch.exp(-vf * (hi - lo) * xi / eps))


class DensityNet(nn.Module):
    def __init__(self, layers):
        super(DensityNet, self).__init__()
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:])])
        for lin in self.linears:
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)

    def forward(self, X):
        z = 2.0 * X - 1.0
        for lin in self.linears[:-1]:
            z = torch.tanh(lin(z))
        return torch.sigmoid(self.linears[-1](z))


class TrafficPINN:
    def __init__(self, X_data, rho_data, X_coll, layers=(2, 24, 24, 24, 1), eps=0.02, w_pde=0.5):
        self.X_data, self.rho_data = X_data, rho_data
        self.X_coll = X_coll.clone().requires_grad_(True)
        self.net = DensityNet(list(layers))
        # free-flow speed is unknown and identified with the density
        self.log_vf = nn.Parameter(torch.tensor(-0.4))
        self.eps, self.w_pde = eps, w_pde
        self.opt = torch.optim.Adam([{"params": self.net.parameters()}, {"params": [self.log_vf], "lr": 1e-2}], lr=5e-3)
        self.it = 0

    def residual(self):
        x = self.X_coll[:, 0:1]  # expect: place
        t = self.X_coll[:, 1:2]  # expect: place
        rho = self.net(self.X_coll)  # expect: place
        ones = torch.ones_like(rho)
        rho_x = grad(rho, x, grad_outputs=ones, create_graph=True)[0]  # expect: place
        rho_t = grad(rho, t, grad_outputs=ones, create_graph=True)[0]  # expect: place
        rho_xx = grad(rho_x, x, grad_outputs=ones, create_graph=True)[0]
        vf = self.log_vf.exp()
        return rho_t + (1 - 2 * rho) * vf * rho_x - self.eps * rho_xx

    def losses(self):
        data = ((self.net(self.X_data) - self.rho_data) ** 2).mean()
        pde = (self.residual() ** 2).mean()
        return data, pde

    def train(self, n_iter, every=40):
        for _ in range(n_iter):
            self.opt.zero_grad()
            data, pde = self.losses()
            loss = data + self.w_pde * 0.1 * pde
            loss.backward()
            self.opt.step()
            self.it += 1
            if self.it % every == 0:
                print("it %4d  data %.2e  pde %.2e  vf %.3f" % (self.it, data.item(), pde.item(), self.log_vf.exp().item()))

    def predict(self, X):
        with torch.no_grad():
            return self.net(X)


def detectors(n_det=7, n_times=30, noise=0.01):
    where = torch.linspace(0.05, 0.95, n_det)
    when = torch.linspace(0, 1, n_times)
    X = torch.cartesian_prod(where, when)
    rho = exact(X)
    return X, rho + noise * torch.randn_like(rho)


torch.manual_seed(1955)
X_data, rho_data = detectors()
pinn = TrafficPINN(X_data, rho_data, torch.rand(400, 2))
pinn.train(200)
grid = torch.cartesian_prod(torch.linspace(0, 1, 40), torch.linspace(0, 1, 40))
err = (pinn.predict(grid) - exact(grid)).norm() / exact(grid).norm()
print("relative error on the grid: %.3f" % err.item())
