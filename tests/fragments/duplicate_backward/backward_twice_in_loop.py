# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
optimizer = optim.SGD(model.parameters(), 0.01)
criterion = nn.MSELoss()
train_loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
num_epochs = 2
# paste: begin
for epoch in range(num_epochs):
    for i, (images, labels) in enumerate(train_loader):
        outputs = model(images)
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        print(loss.item())
        loss.backward()  # expect: place
        optimizer.step()
# paste: end
