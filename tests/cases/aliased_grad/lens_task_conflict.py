# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = rows, sharp, even, taken
# A lens is fitted to be sharp and evenly lit; gradients that work against each other are counted.
import torch

torch.manual_seed(7)
lens = torch.nn.Sequential(torch.nn.Linear(5, 12), torch.nn.Tanh(), torch.nn.Linear(12, 2))
weights = list(lens.parameters())
optimizer = torch.optim.SGD(weights, lr=0.05)
light = torch.randn(24, 5)


def gradients_of(losses):
    rows = []
    for loss in losses:
        optimizer.zero_grad(set_to_none=False)
        loss.backward(retain_graph=loss is not losses[-1])
        taken = [w.grad for w in weights]  # expect: place
        rows.append(taken)  # expect: place
    return rows


clashes = 0
for step in range(12):
    image = lens(light)
    sharp, even = gradients_of([(image[:, 0] - 1).pow(2).mean(), image.var(0).sum()])
    agreement = sum((s * e).sum() for s, e in zip(sharp, even))
    clashes += int(agreement < 0)
    for w, s, e in zip(weights, sharp, even):
        w.grad = s + e if agreement > 0 else s
    optimizer.step()
print(clashes)
