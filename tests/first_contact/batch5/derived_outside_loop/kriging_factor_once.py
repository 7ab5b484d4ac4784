# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = K, L, alpha, chol
"""Kriging of zinc in the topsoil. Range, sill and nugget by gradient descent on the likelihood."""
import math

import torch


def covariance(a, b, log_range, log_sill):
    d = torch.cdist(a, b)
    s = math.sqrt(3) * d / log_range.exp()
    return log_sill.exp() * (1 + s) * torch.exp(-s)


torch.manual_seed(100)
sites = torch.rand(25, 2) * 10
zinc = torch.sin(sites[:, 0]) + 0.3 * sites[:, 1] + 0.1 * torch.randn(25)
zinc = zinc - zinc.mean()

log_range = torch.tensor(0.5, requires_grad=True)
log_sill = torch.tensor(0.0, requires_grad=True)
log_nugget = torch.tensor(-1.0, requires_grad=True)
opt = torch.optim.Adam([log_range, log_sill, log_nugget], lr=0.05)

K = covariance(sites, sites, log_range, log_sill) + log_nugget.exp() * torch.eye(25)  # expect: place
L = torch.linalg.cholesky(K)  # expect: place

for it in range(20):
    opt.zero_grad()
    white = torch.linalg.solve_triangular(L, zinc[:, None], upper=False)
    nll = 0.5 * white.pow(2).sum() + L.diagonal().log().sum()
    nll.backward()  # expect: place
    opt.step()
    if it % 5 == 4:
        print(it + 1, round(nll.item(), 4))

with torch.no_grad():
    new = torch.rand(3, 2) * 10
    print(covariance(new, sites, log_range, log_sill) @ torch.cholesky_solve(zinc[:, None], L))
