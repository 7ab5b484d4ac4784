# expect: pattern = none
# What is derived once comes from data only; the parameter is read through a name of its own.
import torch


class BayesianRegression:
    def __init__(self, x, degree=4):
        self.basis = torch.stack([x**k for k in range(degree)], dim=1)
        self.gram = self.basis.T @ self.basis
        self.mean = torch.zeros(degree, requires_grad=True)
        self.log_std = torch.full((degree,), -1.0, requires_grad=True)
        self.variational = (self.mean, self.log_std)

    def elbo(self, y, samples=8):
        mean, log_std = self.variational
        w = mean + torch.randn(samples, len(mean)) * log_std.exp()
        fit = -0.5 * (y - w @ self.basis.T).pow(2).sum(1).mean()
        kl = 0.5 * (log_std.exp() ** 2 + mean**2 - 1 - 2 * log_std).sum()
        return fit - kl + 1e-3 * self.gram.trace()


torch.manual_seed(1)
x = torch.linspace(-1, 1, 30)
y = 0.5 - x + 2 * x**2 + 0.1 * torch.randn(30)
model = BayesianRegression(x)
optimizer = torch.optim.Adam(model.variational, lr=0.05)
for step in range(8):
    optimizer.zero_grad()
    loss = -model.elbo(y)
    loss.backward()
    optimizer.step()
print(loss.item(), model.mean.tolist())
