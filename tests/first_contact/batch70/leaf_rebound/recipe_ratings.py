# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = params, params[name]
# My first own model: guess how many stars a recipe gets from what is in it.
import torch

torch.manual_seed(8)

pantry = ["butter", "garlic", "chili", "sugar", "lemon", "cream", "basil", "anchovy"]
n_recipes = 120

# made-up cookbook: 1 if the ingredient is used
used = (torch.rand(n_recipes, len(pantry)) < 0.4).float()
minutes = 10 + 80 * torch.rand(n_recipes, 1)
taste = torch.tensor([0.6, 0.8, 0.2, 0.4, 0.3, 0.5, 0.5, -0.7])
stars = 2.5 + used @ taste - 0.01 * minutes[:, 0] + 0.2 * torch.randn(n_recipes)

params = {
    "ingredient": torch.zeros(len(pantry), requires_grad=True),
    "pair": (0.1 * torch.randn(len(pantry), 3)).requires_grad_(),
    "time": torch.zeros(1, requires_grad=True),
    "bias": torch.tensor([3.0], requires_grad=True),
}


def predict(x, t):
    linear = x @ params["ingredient"]
    # factorisation machine: which ingredients like each other
    s = x @ params["pair"]
    together = 0.5 * (s**2 - (x**2) @ params["pair"] ** 2).sum(1)
    return params["bias"] + linear + together + params["time"] * (t[:, 0] / 60 - 0.8)


def clear_grads():
    for p in params.values():
        if p.grad is not None:
            p.grad = None


def sgd_update(lr):
    for name in params:
        params[name] = params[name] - lr * params[name].grad  # expect: place


train, test = slice(0, 90), slice(90, None)
lr = 0.05
for epoch in range(30):
    clear_grads()
    loss = ((predict(used[train], minutes[train]) - stars[train]) ** 2).mean()
    loss.backward()
    sgd_update(lr)  # expect: place
    if epoch % 10 == 0:
        print("epoch", epoch, "mse", round(loss.item(), 3))

with torch.no_grad():
    err = (predict(used[test], minutes[test]) - stars[test]).abs().mean()
print("mean error in stars on the rest of the book:", round(err.item(), 2))
for name, w in sorted(zip(pantry, params["ingredient"].tolist()), key=lambda z: -z[1]):
    print(f"  {name:8s} {w:+.2f}")
