# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 8)
optimizer = optim.SGD(model.parameters(), 0.01)
loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
# paste: begin
criterion = nn.MSELoss(reduction="none")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)  # expect: place
    loss.backward()  # expect: place
    optimizer.step()
# paste: end
