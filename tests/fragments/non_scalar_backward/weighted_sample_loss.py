# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 3)
weights = torch.rand(4)
inputs = torch.randn(4, 8)
target = torch.tensor([0, 1, 2, 0])
# paste: begin
outputs = model(inputs)
ce = F.cross_entropy(outputs, target, reduction="none")
loss = ce * weights  # expect: place
loss.backward()  # expect: place
# paste: end
