import math

import torch


def make_likelihood(raw_scale, raw_noise, X):
    scale = torch.nn.functional.softplus(raw_scale)
    noise = torch.nn.functional.softplus(raw_noise)
    K = torch.exp(-0.5 * torch.cdist(X, X).pow(2) / scale**2) + noise * torch.eye(len(X))

    def nll(y):
        L = torch.linalg.cholesky(K)
        a = torch.cholesky_solve(y[:, None], L).squeeze()
        return 0.5 * y @ a + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)

    return nll


torch.manual_seed(0)
X = torch.linspace(0, 3, 12)[:, None]
Y = torch.sin(X).squeeze()
raw_scale = torch.nn.Parameter(torch.tensor(0.0))
raw_noise = torch.nn.Parameter(torch.tensor(-2.0))
opt = torch.optim.Adam([raw_scale, raw_noise], lr=0.05)
for i in range(6):
    opt.zero_grad()
    nll = make_likelihood(raw_scale, raw_noise, X)
    loss = nll(Y)
    loss.backward()
    opt.step()
    print(i, loss.item())
