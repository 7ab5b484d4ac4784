"""Learning to reweight examples: a virtual step, then validation gradients on the weights."""
import torch
import torch.nn.functional as F

torch.manual_seed(9)
W = torch.randn(5, 3, requires_grad=True)
example_logits = torch.zeros(12, requires_grad=True)
opt_w = torch.optim.SGD([W], lr=0.05)
opt_e = torch.optim.SGD([example_logits], lr=0.5)
x, y = torch.randn(12, 5), torch.randint(0, 3, (12,))
val = [(torch.randn(6, 5), torch.randint(0, 3, (6,))) for _ in range(2)]


def weighted_loss(weight):
    per_example = F.cross_entropy(x @ weight, y, reduction="none")
    return (example_logits.softmax(0) * per_example).sum()


for it in range(3):
    (g,) = torch.autograd.grad(weighted_loss(W), W, create_graph=True)
    w_new = W - 0.1 * torch.tanh(g.detach())
    opt_e.zero_grad()
    for x_val, y_val in val:
        F.cross_entropy(x_val @ w_new, y_val).backward()
    opt_e.step()
    opt_w.zero_grad()
    weighted_loss(W).backward()
    opt_w.step()
