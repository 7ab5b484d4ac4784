# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = prototypes
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

encoder = nn.Linear(6, 8)
net = nn.Linear(6, 8)
support = torch.randn(3, 6)
optimizer = optim.SGD(list(encoder.parameters()) + list(net.parameters()), 0.01)
query_loader = [torch.randn(4, 6) for _ in range(3)]
# paste: begin
prototypes = torch.tanh(encoder(support))  # expect: place
for x in query_loader:
    dist = torch.cdist(net(x), prototypes)  # expect: place
    loss = dist.mean()
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
# paste: end
