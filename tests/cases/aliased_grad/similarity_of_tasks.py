# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = g, grads
# gradient similarity between tasks
import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(6, 12)
heads = nn.ModuleList([nn.Linear(12, 1), nn.Linear(12, 1)])
opt = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.05)


def task_gradients(x, ys):
    grads = {}
    for t, head in enumerate(heads):
        shared.zero_grad(set_to_none=False)  # expect: place
        nn.functional.mse_loss(head(torch.tanh(shared(x))), ys[t]).backward()
        grads[t] = shared.weight.grad  # expect: place
    return grads


for step in range(3):
    x, ys = torch.randn(16, 6), torch.randn(2, 16, 1)
    g = task_gradients(x, ys)
    sim = nn.functional.cosine_similarity(g[0].flatten(), g[1].flatten(), dim=0)
    opt.zero_grad()
    z = torch.tanh(shared(x))
    first, second = (nn.functional.mse_loss(h(z), y) for h, y in zip(heads, ys))
    (first + (1 + sim) / 2 * second).backward()
    opt.step()
    print(step, f"{sim:.3f}")
