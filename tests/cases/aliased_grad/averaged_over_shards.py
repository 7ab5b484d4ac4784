# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = shard_grads, grads
"""Gradients of four data shards are gathered, averaged without outliers, then applied."""
import torch

torch.manual_seed(5)
weight = torch.zeros(4, 1, requires_grad=True)
true_weight = torch.tensor([[1.0], [-2.0], [0.5], [3.0]])


def robust_mean(stack):
    ordered = stack.sort(dim=0).values
    return ordered[1:-1].mean(dim=0)


for epoch in range(6):
    x = torch.randn(32, 4)
    y = x @ true_weight
    y[:3] += 50.0
    shard_grads = []
    for xs, ys in zip(x.chunk(4), y.chunk(4)):
        loss = (xs @ weight - ys).pow(2).mean()
        loss.backward()
        shard_grads.append(weight.grad)  # expect: place
        if len(shard_grads) < 4:
            weight.grad.zero_()  # expect: place
    with torch.no_grad():
        weight -= 0.05 * robust_mean(torch.stack(shard_grads))
    weight.grad = None
    print(epoch, (weight - true_weight).norm().item())
