# expect: pattern = lbfgs-closure
# expect: also = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = int_mat, alpha, frac_matrix, weights
"""Inverse problem, anomalous seepage through a dike: unknown order alpha of a fractional derivative, found together
with the head profile. Adam goes through, L-BFGS afterwards does not."""
import math

import torch
from torch import nn

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


class Variable(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.raw = nn.Parameter(torch.tensor(value))

    def forward(self):
        return 1.0 + torch.sigmoid(self.raw)


class Problem:
    """D^alpha u = f on (0, 1), Gruenwald-Letnikov weights on n auxiliary points left of every collocation point."""

    def __init__(self, n=16, true_alpha=1.8):
        self.n = n
        self.x = torch.linspace(0, 1, n + 1).unsqueeze(1)
        self.h = 1.0 / n
        a = true_alpha
        self.f = (math.gamma(4) / math.gamma(4 - a)) * self.x ** (3 - a)
        self.obs_x = torch.tensor([[0.1], [0.35], [0.6], [0.85]])
        self.obs_u = self.obs_x ** 3

    def frac_matrix(self, alpha):
        w = [torch.ones_like(alpha)]
        for k in range(1, self.n + 1):
            w.append(w[-1] * (1 - (alpha + 1) / k))
        weights = torch.stack(w)
        index = torch.arange(self.n + 1)
        lag = index.unsqueeze(1) - index.unsqueeze(0)
        full = torch.where(lag >= 0, weights[lag.clamp(min=0)], torch.zeros(()))
        return full / self.h ** alpha


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return x * self.layers(x)


class Model:
    def __init__(self, problem, net):
        self.problem, self.net = problem, net
        self.alpha = Variable(0.0)
        self.parameters = [*net.parameters(), *self.alpha.parameters()]

    def losses(self, int_mat):
        p = self.problem
        u = self.net(p.x)
        residual = (int_mat @ u - p.f)[1:]
        return [residual.pow(2).mean(), 100 * (self.net(p.obs_x) - p.obs_u).pow(2).mean()]

    def compile(self, name, lr=None):
        if name == "adam":
            self.opt = torch.optim.Adam(self.parameters, lr=lr)
        elif name == "L-BFGS":
            self.opt = torch.optim.LBFGS(self.parameters, max_iter=8, history_size=20, line_search_fn="strong_wolfe")

    def train_step(self):
        int_mat = self.problem.frac_matrix(self.alpha())  # expect: place

        def closure():
            losses = self.losses(int_mat)  # expect: place
            total_loss = torch.sum(torch.stack(losses))
            self.opt.zero_grad()
            total_loss.backward()  # expect: place
            return total_loss

        return self.opt.step(closure)

    def train(self, iterations, every):
        for i in range(iterations):
            loss = self.train_step()
            if i % every == 0:
                print("%4d  loss %.3e  alpha %.4f" % (i, float(loss), self.alpha().item()))


model = Model(Problem(), Net())
model.compile("adam", lr=1e-2)
model.train(40, 10)
model.compile("L-BFGS")
model.train(4, 1)
