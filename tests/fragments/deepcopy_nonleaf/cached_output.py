# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol
# expect: carrier = model.last, self.last
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

import copy

best_loss = 10.0
loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]


# paste: begin
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.last = None

    def forward(self, x):
        self.last = self.fc(x)  # expect: place
        return self.last


model = Encoder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best_loss:
        best = copy.deepcopy(model)  # expect: place
# paste: end
