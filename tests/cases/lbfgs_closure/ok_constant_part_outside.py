import torch

torch.manual_seed(0)
X, y = torch.randn(12, 3), torch.randn(12)
gram, moment = X.t() @ X, X.t() @ y
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.LBFGS([w], max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = w @ gram @ w - 2 * moment @ w + 0.1 * w.abs().sum()
    loss.backward()
    return loss


optimizer.step(closure)
print(w)
