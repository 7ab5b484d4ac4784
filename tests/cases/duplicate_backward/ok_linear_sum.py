# Sums and views save nothing, so even the same scalar may be walked again.
import torch

a = torch.ones(4, requires_grad=True)
b = torch.full((4,), 2.0, requires_grad=True)
total = (a + b).view(2, 2).sum()
total.backward()
total.backward()
print(a.grad, b.grad)
