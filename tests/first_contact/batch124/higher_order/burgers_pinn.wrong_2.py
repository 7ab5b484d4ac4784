import numpy as np
import torch
import torch.nn as nn

np.random.seed(1234)
torch.manual_seed(1234)


class PINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        mods = []
        for a, b in zip(layers[:-2], layers[1:-1]):
            mods += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*mods, nn.Linear(layers[-2], layers[-1]))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


class BurgersSolver:
    """u_t + u u_x = nu u_xx on [-1, 1] x [0, 1], u(x, 0) = -sin(pi x)"""

    def __init__(self, nu=0.01 / np.pi, n_f=200, n_b=40):
        self.nu = nu
        self.model = PINN([2, 20, 20, 1])
        col = np.random.uniform([-1, 0], [1, 1], size=(n_f, 2)).astype(np.float32)
        self.x_f = torch.tensor(col[:, 0:1], requires_grad=True)
        self.t_f = torch.tensor(col[:, 1:2], requires_grad=True)
        x0 = np.linspace(-1, 1, n_b, dtype=np.float32)[:, None]
        self.x_0, self.t_0 = torch.tensor(x0), torch.zeros(n_b, 1)
        self.u_0 = torch.tensor(-np.sin(np.pi * x0))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def residual(self):
        u = self.model(self.x_f, self.t_f)
        ones = torch.ones_like(u)
        u_t = torch.autograd.grad(u, self.t_f, grad_outputs=ones, retain_graph=True)[0]
        u_x = torch.autograd.grad(u, self.x_f, grad_outputs=ones, retain_graph=True)[0]
        u_x.requires_grad_(True)
        u_xx = torch.autograd.grad(u_x, self.x_f, grad_outputs=ones, retain_graph=True)[0]
        return u_t + u * u_x - self.nu * u_xx

    def loss(self):
        mse_u = ((self.model(self.x_0, self.t_0) - self.u_0) ** 2).mean()
        mse_f = (self.residual() ** 2).mean()
        return mse_u, mse_f

    def train(self, n_iter):
        for it in range(n_iter):
            self.optimizer.zero_grad()
            mse_u, mse_f = self.loss()
            (mse_u + mse_f).backward()
            self.optimizer.step()
            if it % 10 == 0:
                print(f"it {it}: data {mse_u.item():.3e} pde {mse_f.item():.3e}")


BurgersSolver().train(30)
