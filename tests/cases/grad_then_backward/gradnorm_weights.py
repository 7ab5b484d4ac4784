# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = losses, loss, h, shared
# Balance two tasks by the norm of their gradients on the last shared layer.
import torch
from torch import nn

torch.manual_seed(44)
shared = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 10), nn.ReLU())
head_a, head_b = nn.Linear(10, 1), nn.Linear(10, 4)
opt = torch.optim.Adam([*shared.parameters(), *head_a.parameters(), *head_b.parameters()], lr=1e-3)


def grad_norm(loss, weight):
    return torch.autograd.grad(loss, weight)[0].norm()  # expect: place


for step in range(3):
    x = torch.randn(16, 7)
    h = shared(x)
    losses = [
        nn.functional.mse_loss(head_a(h).squeeze(-1), x.norm(dim=1)),
        nn.functional.cross_entropy(head_b(h), torch.randint(0, 4, (16,))),
    ]
    norms = torch.stack([grad_norm(loss, shared[2].weight) for loss in losses])  # expect: place
    weights = (norms.mean() / (norms + 1e-8)).detach()
    total = (weights * torch.stack(losses)).sum()
    opt.zero_grad()
    total.backward()  # expect: place
    opt.step()
