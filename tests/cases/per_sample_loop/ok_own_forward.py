# Each sample has its own forward, hence its own graph: many backwards, one step.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.randn(6), torch.tensor(i % 2)) for i in range(10)]
for epoch in range(2):
    optimizer.zero_grad()
    for x, y in data:
        loss = criterion(model(x).unsqueeze(0), y.unsqueeze(0))
        loss.backward()
    optimizer.step()
