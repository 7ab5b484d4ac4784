# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = K, L
"""Gaussian process regression: hyperparameters by gradient ascent on the marginal likelihood."""
import math
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
X = torch.linspace(0, 1, 15)
y = torch.sin(2 * math.pi * X) + 0.1 * torch.randn(15)

raw_lengthscale = torch.nn.Parameter(torch.tensor(-1.0))
raw_scale = torch.nn.Parameter(torch.tensor(0.0))
raw_noise = torch.nn.Parameter(torch.tensor(-2.0))


def rbf(a, b):
    lengthscale = torch.nn.functional.softplus(raw_lengthscale)
    sq = (a[:, None] - b[None, :]).pow(2)
    return raw_scale.exp() * torch.exp(-0.5 * sq / lengthscale**2)


optimizer = torch.optim.Adam([raw_lengthscale, raw_scale, raw_noise], lr=0.05)
K = rbf(X, X) + raw_noise.exp() * torch.eye(15)  # expect: place

for i in range(5):
    optimizer.zero_grad()
    L = torch.linalg.cholesky(K)  # expect: place
    alpha = torch.cholesky_solve(y[:, None], L).squeeze(1)
    nll = 0.5 * y @ alpha + L.diagonal().log().sum()
    nll.backward()  # expect: place
    optimizer.step()
    print(i, nll.item())
