# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
# expect: carrier = self.w
import torch


class Projected:
    """Weights on the simplex."""

    def __init__(self, n):
        self.w = torch.full((n,), 1.0 / n, requires_grad=True)

    def project(self):
        self.w.clamp_(min=0.0)  # expect: place
        self.w /= self.w.sum()

    def risk(self, cov):
        return self.w @ cov @ self.w


def optimise(port, cov, steps=4):
    opt = torch.optim.SGD([port.w], lr=0.05)
    for _ in range(steps):
        opt.zero_grad()
        port.risk(cov).backward()
        opt.step()
        port.project()
    return port.w


torch.manual_seed(0)
a = torch.randn(5, 5)
print(optimise(Projected(5), a @ a.t()))
