import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
accumulation_steps = 4
for step, x in enumerate(torch.randn(12, 8, 5), start=1):
    loss = (model(x).squeeze(1) - x.mean(1)).pow(2).mean() / accumulation_steps
    loss.backward()
    if step % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
