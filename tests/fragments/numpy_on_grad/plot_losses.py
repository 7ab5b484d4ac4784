# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = loss_list, l, loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 8)
optimizer = optim.SGD(model.parameters(), 0.01)
criterion = nn.MSELoss()
inputs, targets = torch.randn(4, 8), torch.randn(4, 8)
num_epochs = 3
loss_list = []
# paste: begin
for epoch in range(num_epochs):
    outputs = model(inputs)
    loss = criterion(outputs, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss_list.append(loss)  # expect: place
mean_loss = np.mean([l.numpy() for l in loss_list])  # expect: place
# paste: end
