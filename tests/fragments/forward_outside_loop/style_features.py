# expect: pattern = forward-outside-loop
# expect: also = derived-outside-loop, duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss, features
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

vgg = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
image = torch.randn(4, 8, requires_grad=True)
optimizer = optim.SGD([image], 0.1)
content = torch.randn(4, 8)
target = torch.randn(4, 8)
iterations = 5
# paste: begin
features = vgg(image)  # expect: place
loss = F.mse_loss(features, target)  # expect: place
for i in range(iterations):
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
# paste: end
