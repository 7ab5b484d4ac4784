# expect: pattern = none
# expect: raises = nothing
import torch
from torch.func import functional_call


def sgd(params, grads, lr):
    return {k: (p - lr * g).detach().requires_grad_() for (k, p), g in zip(params.items(), grads)}


def train(module, data, lr=0.1, epochs=3):
    params = {k: v.detach().clone().requires_grad_() for k, v in module.named_parameters()}
    for epoch in range(epochs):
        for x, y in data:
            out = functional_call(module, params, (x,))
            loss = torch.nn.functional.cross_entropy(out, y)
            grads = torch.autograd.grad(loss, list(params.values()))
            params = sgd(params, grads, lr)
        print(epoch, loss.item())
    module.load_state_dict(params)
    return module


torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.SiLU(), torch.nn.Linear(12, 3))
train(net, [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(3)])
