# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = outputs, loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 8)
optimizer = optim.SGD(model.parameters(), 0.01)
criterion = nn.MSELoss()
train_loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
# paste: begin
for inputs, labels in train_loader:
    with torch.no_grad():  # expect: place
        outputs = model(inputs)  # expect: place
    loss = criterion(outputs, labels)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
# paste: end
