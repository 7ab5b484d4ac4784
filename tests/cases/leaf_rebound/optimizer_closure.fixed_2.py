import torch


def sgd(params, lr):
    def step():
        for name in params:
            params[name] = (params[name] - lr * params[name].grad).detach().requires_grad_()
            params[name].grad = None
    return step


torch.manual_seed(0)
params = {"w": torch.randn(3, 1, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
step = sgd(params, 0.1)
X = torch.randn(30, 3)
y = X @ torch.tensor([[1.0], [2.0], [-1.0]])
for i in range(4):
    loss = (X @ params["w"] + params["b"] - y).pow(2).mean()
    loss.backward()
    step()
    print(i, loss.item())
