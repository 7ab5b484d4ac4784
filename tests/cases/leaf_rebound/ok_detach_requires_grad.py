# expect: pattern = none
# expect: raises = nothing
import torch

torch.manual_seed(1)
w = torch.randn(5, 1, requires_grad=True)
for step in range(8):
    x = torch.randn(20, 5)
    loss = (x @ w - x[:, :1]).pow(2).mean()
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_(True)
print(w.flatten().tolist(), loss.item())
