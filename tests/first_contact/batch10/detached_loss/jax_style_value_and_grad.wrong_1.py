"""Port from JAX: parameters are a plain tree, value_and_grad is a helper. Fits the cooling of a casting."""
import torch


def tree_map(f, tree):
    if isinstance(tree, dict):
        return {k: tree_map(f, v) for k, v in tree.items()}
    return f(tree)


def leaves(tree):
    return [x for v in tree.values() for x in leaves(v)] if isinstance(tree, dict) else [tree]


def value_and_grad(fn):
    def inner(params, *args):
        params = tree_map(lambda p: p.detach(), params)
        value = fn(params, *args).requires_grad_()
        grads = iter(torch.autograd.grad(value, leaves(params), allow_unused=True))
        return value.item(), tree_map(lambda _: next(grads), params)
    return inner


def init(key):
    g = torch.Generator().manual_seed(key)
    return {"dense": {"w": torch.randn(2, 16, generator=g), "b": torch.zeros(16)}, "out": {"w": torch.randn(16, 1, generator=g) / 4}}


def loss_fn(params, x, y):
    h = torch.tanh(x @ params["dense"]["w"] + params["dense"]["b"])
    return ((h @ params["out"]["w"] - y) ** 2).mean()


params = init(0)
opt = torch.optim.SGD(leaves(params), lr=0.1)
x = torch.rand(64, 2, generator=torch.Generator().manual_seed(1))
y = torch.exp(-2 * x[:, :1]) * (1 + x[:, 1:])
step = value_and_grad(loss_fn)
for i in range(6):
    value, grads = step(params, x, y)
    for p, g in zip(leaves(params), leaves(grads)):
        p.grad = torch.zeros_like(p) if g is None else g
    opt.step()
    print(i, round(value, 5))
