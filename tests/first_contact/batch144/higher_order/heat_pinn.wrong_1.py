import numpy as np
import torch
import torch.nn as nn


class DNN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        modules = []
        for i in range(len(layers) - 2):
            modules.append(nn.Linear(layers[i], layers[i + 1]))
            modules.append(nn.Tanh())
        modules.append(nn.Linear(layers[-2], layers[-1]))
        self.net = nn.Sequential(*modules)

    def forward(self, x):
        return self.net(x)


class HeatPINN:
    """
    u_t = kappa * u_xx on [-1, 1] x [0, 1]; kappa is unknown and found from a few sensors.
    """

    def __init__(self, X_u, u, X_f, layers, lb, ub):
        self.lb = torch.tensor(lb).float()
        self.ub = torch.tensor(ub).float()

        # data
        self.x_u = torch.tensor(X_u[:, 0:1], dtype=torch.float32)
        self.t_u = torch.tensor(X_u[:, 1:2], dtype=torch.float32)
        self.x_f = torch.tensor(X_f[:, 0:1], dtype=torch.float32, requires_grad=True)
        self.t_f = torch.tensor(X_f[:, 1:2], dtype=torch.float32, requires_grad=True)
        self.u = torch.tensor(u).float()

        # networks and unknown coefficient
        self.dnn = DNN(layers)
        self.log_kappa = nn.Parameter(torch.tensor([-1.0]))
        self.dnn.register_parameter("log_kappa", self.log_kappa)

        self.optimizer = torch.optim.Adam(self.dnn.parameters(), lr=5e-3)
        self.iter = 0

    def net_u(self, x, t):
        X = torch.cat([x, t], dim=1)
        X = 2.0 * (X - self.lb) / (self.ub - self.lb) - 1.0
        return self.dnn(X)

    def net_f(self, x, t):
        """ The pytorch autograd version of calculating residual """
        kappa = torch.exp(self.log_kappa)
        u = self.net_u(x, t)
        ones = torch.ones_like(u)

        u_t = torch.autograd.grad(u, t, grad_outputs=ones, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=ones, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=ones)[0]

        f = u_t - kappa * u_xx
        return f

    def train(self, nIter):
        self.dnn.train()
        for epoch in range(nIter):
            u_pred = self.net_u(self.x_u, self.t_u)
            f_pred = self.net_f(self.x_f, self.t_f)
            loss_u = torch.mean((self.u - u_pred) ** 2)
            loss_f = torch.mean(f_pred ** 2)
            loss = loss_u + 0.1 * loss_f

            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

            self.iter += 1
            if epoch % 10 == 0:
                print('It: %d, Loss: %.3e, Loss_f: %.3e, kappa: %.4f'
                      % (epoch, loss.item(), loss_f.item(), torch.exp(self.log_kappa).item()))

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], dtype=torch.float32)
        t = torch.tensor(X[:, 1:2], dtype=torch.float32)
        self.dnn.eval()
        with torch.no_grad():
            return self.net_u(x, t).numpy()


def exact(X, kappa=0.1):
    x, t = X[:, 0:1], X[:, 1:2]
    return np.exp(-kappa * np.pi ** 2 * t) * np.sin(np.pi * x)


if __name__ == "__main__":
    np.random.seed(1234)
    torch.manual_seed(1234)

    lb, ub = np.array([-1.0, 0.0]), np.array([1.0, 1.0])
    X_u = lb + (ub - lb) * np.random.rand(100, 2)
    u = exact(X_u) + 0.01 * np.random.randn(100, 1)
    X_f = lb + (ub - lb) * np.random.rand(300, 2)

    model = HeatPINN(X_u, u, X_f, [2, 20, 20, 20, 1], lb, ub)
    model.train(40)

    X_test = lb + (ub - lb) * np.random.rand(500, 2)
    error = np.linalg.norm(exact(X_test) - model.predict(X_test)) / np.linalg.norm(exact(X_test))
    print('Error u: %.3e' % error)
