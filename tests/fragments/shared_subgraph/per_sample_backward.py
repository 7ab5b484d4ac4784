# expect: pattern = shared-subgraph
# expect: also = per-sample-loop, forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = outputs
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), 0.01)
inputs, targets = torch.randn(4, 8), torch.randn(4, 8)
# paste: begin
optimizer.zero_grad()
outputs = model(inputs)  # expect: place
for i in range(outputs.size(0)):
    loss = criterion(outputs[i], targets[i])
    loss.backward()  # expect: place
optimizer.step()
# paste: end
