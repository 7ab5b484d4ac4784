# expect: pattern = higher-order
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fast, w, weights
"""Tune ridge penalties per feature through three unrolled steps; the inner weights go on training."""
import torch

torch.manual_seed(9)
N, D = 40, 8
truth = torch.zeros(D)
truth[:3] = torch.tensor([1.5, -2.0, 0.7])
X, Xv = torch.randn(N, D), torch.randn(N, D)
y, yv = X @ truth + 0.5 * torch.randn(N), Xv @ truth + 0.5 * torch.randn(N)

log_penalty = torch.full((D,), -2.0, requires_grad=True)
hyper = torch.optim.Adam([log_penalty], lr=0.05)

fast = torch.zeros(D, requires_grad=True)
for outer in range(12):
    for _ in range(3):
        inner = (X @ fast - y).pow(2).mean() + (log_penalty.exp() * fast.pow(2)).sum()
        (g,) = torch.autograd.grad(inner, fast, create_graph=True)
        fast = fast - 0.1 * g  # expect: place
    val = (Xv @ fast - yv).pow(2).mean()
    hyper.zero_grad()
    val.backward()  # expect: place
    hyper.step()
    if outer % 4 == 3:
        print(outer + 1, round(val.item(), 4), [round(v, 3) for v in log_penalty.exp().tolist()])
