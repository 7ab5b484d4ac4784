# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = output
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 8)
criterion = nn.MSELoss()
val_loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
preds = []
# paste: begin
for x, y in val_loader:
    output = model(x)
    loss = criterion(output, y)
    preds.append(output.numpy())  # expect: place
preds = np.concatenate(preds)
# paste: end
