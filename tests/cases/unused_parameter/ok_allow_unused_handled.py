# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
shared, left, right = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
params = [*shared.parameters(), *left.parameters(), *right.parameters()]
for step in range(6):
    x = torch.randn(12, 4)
    head = left if step % 2 else right
    loss = (head(shared(x).relu()) - x[:, :1]).pow(2).mean()
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    with torch.no_grad():
        for p, g in zip(params, grads):
            if g is not None:
                p -= 0.1 * g
print(loss.item())
