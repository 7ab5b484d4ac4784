"""Kriging: length scale and noise of a Gaussian process by maximum likelihood with L-BFGS."""
import torch

torch.manual_seed(5)
sites = torch.rand(30, 2)
heights = torch.sin(4 * sites[:, 0]) + 0.1 * torch.randn(30)
log_scale = torch.zeros(2, requires_grad=True)
log_noise = torch.tensor(-1.0, requires_grad=True)
search = torch.optim.LBFGS([log_scale, log_noise], lr=0.05, max_iter=5)


def covariance():
    scaled = sites / log_scale.exp()
    return torch.exp(-0.5 * torch.cdist(scaled, scaled).pow(2)) + (0.05 + log_noise.exp()) * torch.eye(30)


for rounds in range(3):
    factor = torch.linalg.cholesky(covariance())
    nll = 0.5 * (heights @ torch.cholesky_solve(heights[:, None], factor)).sum() + factor.diag().log().sum()

    def evaluate():
        nll.backward(retain_graph=True)
        return nll

    search.zero_grad()
    search.step(evaluate)
    print(rounds, round(nll.item(), 3))
