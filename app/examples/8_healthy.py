"""A loop over samples that is perfectly fine

Each sample has a forward of its own, so each backward has a graph of its own.
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(3):
    inputs = torch.randn(16, 4)
    targets = inputs.sum(dim=1, keepdim=True)
    optimizer.zero_grad()
    for sample, target in zip(inputs, targets):
        loss = (model(sample) - target).pow(2).mean() / len(inputs)
        loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: last loss {loss.item():.4f}")
