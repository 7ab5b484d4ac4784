# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.L, self.alpha, gp.L, gp.alpha, L, alpha, model.L, model.alpha
# An exact Gaussian process whose factorisation is prepared once, like a scikit-learn fit.
import torch
from torch import nn


class ExactGP(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw_length = nn.Parameter(torch.zeros(1))
        self.raw_noise = nn.Parameter(torch.tensor([-2.0]))

    def kernel(self, a, b):
        return torch.exp(-0.5 * torch.cdist(a / self.raw_length.exp(), b / self.raw_length.exp()) ** 2)

    def prepare(self, x, y):
        self.x, self.y = x, y
        K = self.kernel(x, x) + self.raw_noise.exp() * torch.eye(len(x))
        self.L = torch.linalg.cholesky(K)  # expect: place
        self.alpha = torch.cholesky_solve(y.unsqueeze(1), self.L)  # expect: place
        return self

    def nll(self):
        fit = self.y.unsqueeze(0) @ self.alpha  # expect: place
        return 0.5 * fit.squeeze() + self.L.diagonal().log().sum()  # expect: place

    def forward(self, x):
        return (self.kernel(x, self.x) @ self.alpha).squeeze(1)


def optimise(gp, iterations, lr=0.1):
    optimizer = torch.optim.Adam(gp.parameters(), lr=lr)
    for i in range(iterations):
        optimizer.zero_grad()
        loss = gp.nll()
        loss.backward()  # expect: place
        optimizer.step()
        print(i, loss.item(), gp.raw_length.exp().item())


torch.manual_seed(0)
x = torch.linspace(-2, 2, 15).unsqueeze(1)
gp = ExactGP().prepare(x, torch.sin(3 * x).squeeze(1))  # expect: place
optimise(gp, 4)
