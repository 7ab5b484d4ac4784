# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = loss, self.weight, weight
import math
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence


class VarLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(o, i) * 0.1)
        self.rho = nn.Parameter(torch.full((o, i), -3.0))
        self.register_buffer("weight", torch.zeros(o, i))

    def posterior(self):
        return Normal(self.mu, nn.functional.softplus(self.rho))

    def forward(self, x):
        with torch.no_grad():  # expect: place
            self.weight.copy_(self.posterior().rsample())  # expect: place
        return x @ self.weight.t()

    def kl(self):
        return kl_divergence(self.posterior(), Normal(0.0, 1.0)).sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = VarLinear(3, 16), VarLinear(16, 1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def elbo(net, x, y, n, beta=0.0):
    nll = 0.5 * ((net(x) - y) ** 2).sum() * n / len(x)
    if beta > 0:
        nll = nll + beta * (net.a.kl() + net.b.kl())
    return nll


torch.manual_seed(0)
X = torch.randn(64, 3)
Y = X.sin().sum(1, keepdim=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for idx in torch.randperm(64).split(16):
        loss = elbo(net, X[idx], Y[idx], 64)
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
    print(epoch, loss.item())
