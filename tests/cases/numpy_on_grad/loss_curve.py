# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = loss
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)

model = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

X = torch.tensor(np.random.rand(64, 3), dtype=torch.float32)
y = X.pow(2).sum(dim=1, keepdim=True)

curve = []
for epoch in range(10):
    optimizer.zero_grad()
    loss = criterion(model(X), y)
    loss.backward()
    optimizer.step()
    curve.append(loss.numpy())  # expect: place

curve = np.array(curve)
print("best epoch", curve.argmin(), "loss", curve.min())
