# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = total_loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
optimizer = optim.SGD(model.parameters(), 0.01)
criterion = nn.MSELoss()
train_loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
# paste: begin
total_loss = 0
for data, label in train_loader:
    optimizer.zero_grad()
    out = model(data)
    total_loss += criterion(out, label)  # expect: place
    total_loss.backward()  # expect: place
    optimizer.step()
# paste: end
