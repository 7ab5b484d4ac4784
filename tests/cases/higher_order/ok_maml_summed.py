import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(4, 2, requires_grad=True)
meta = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    meta_loss = 0
    for _ in range(3):
        x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
        (g,) = torch.autograd.grad(F.cross_entropy(x @ w, y), w, create_graph=True)
        meta_loss = meta_loss + F.cross_entropy(x @ (w - 0.5 * g), y)
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
