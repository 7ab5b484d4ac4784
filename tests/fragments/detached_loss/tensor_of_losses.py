# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = losses, loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 8)
optimizer = optim.SGD(model.parameters(), 0.01)
batch = [torch.randn(8) for _ in range(3)]
# paste: begin
losses = []
for sample in batch:
    out = model(sample)
    losses.append(out.pow(2).mean().item())  # expect: place
loss = torch.tensor(losses).mean()  # expect: place
optimizer.zero_grad()
loss.backward()  # expect: place
optimizer.step()
# paste: end
