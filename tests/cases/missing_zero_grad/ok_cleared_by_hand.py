# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
model = nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(10, 4)
    for param in model.parameters():
        param.grad = None
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    loss.backward()
    opt.step()
    print(loss.item())
