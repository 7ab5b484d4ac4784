# expect: pattern = none
# expect: raises = nothing
# How much each weight mattered over all batches: gradients add up, and nothing is updated by them.
import torch

torch.manual_seed(5)
weight = torch.randn(4, requires_grad=True)
for _ in range(12):
    rows = torch.randn(16, 4)
    (rows @ weight).tanh().pow(2).mean().backward()
print((weight.grad.abs() * weight.detach().abs()).tolist())
