# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
score = nn.Sequential(nn.Linear(3, 12), nn.Softplus(), nn.Linear(12, 1))
samples = torch.randn(10, 3)
for step in range(6):
    samples = samples.detach().requires_grad_(True)
    energy = score(samples).sum()
    energy.backward()
    samples = samples - 0.05 * samples.grad + 0.05 * torch.randn_like(samples)
print(samples.mean().item())
