# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = hyp, value, log_length, log_sill, log_nugget
# %% [markdown]
# Arsenic in 30 wells: Gaussian process by hand, maximum likelihood for length scale, sill, nugget

# %%
import math
import torch

torch.manual_seed(30)
wells = torch.rand(30, 2)
truth = torch.sin(5 * wells[:, 0]) + torch.cos(4 * wells[:, 1])
arsenic = truth + 0.1 * torch.randn(30)
arsenic = arsenic - arsenic.mean()

# %%
hyp = {
    "log_length": torch.tensor(-1.0, requires_grad=True),
    "log_sill": torch.tensor(0.0, requires_grad=True),
    "log_nugget": torch.tensor(-2.0, requires_grad=True),
}


def covariance(a, b, hyp):
    d2 = ((a[:, None] - b[None]) ** 2).sum(-1)
    return hyp["log_sill"].exp() * torch.exp(-0.5 * d2 / hyp["log_length"].exp() ** 2)


def neg_log_marginal(hyp):
    K = covariance(wells, wells, hyp) + hyp["log_nugget"].exp() * torch.eye(30)
    L = torch.linalg.cholesky(K)
    a = torch.cholesky_solve(arsenic[:, None], L)[:, 0]
    return 0.5 * arsenic @ a + L.diagonal().log().sum() + 15 * math.log(2 * math.pi)


# %%
lr = 0.01
for it in range(30):
    nlml = neg_log_marginal(hyp)
    nlml.backward()
    for name, value in hyp.items():
        hyp[name] = value - lr * value.grad  # expect: place
    if it % 10 == 0:
        print(it, nlml.item(), {k: round(v.exp().item(), 3) for k, v in hyp.items()})

# %%
grid = torch.rand(5, 2)
with torch.no_grad():
    K = covariance(wells, wells, hyp) + hyp["log_nugget"].exp() * torch.eye(30)
    print(covariance(grid, wells, hyp) @ torch.linalg.solve(K, arsenic))
