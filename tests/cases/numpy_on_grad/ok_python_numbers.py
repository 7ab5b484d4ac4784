# expect: pattern = none
# expect: raises = nothing
import math

import torch
from torch import nn

torch.manual_seed(4)
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows = []
for step in range(5):
    x = torch.randn(9, 3)
    out = net(x).softmax(1)
    loss = -out[torch.arange(9), x.argmax(1)].log().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    rows.append({"loss": float(loss), "exp": math.exp(loss), "p": out[0].tolist(), "text": f"{loss:.3f}"})
print(rows[-1])
