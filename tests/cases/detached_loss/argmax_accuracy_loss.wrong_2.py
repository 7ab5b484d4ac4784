import torch
from torch import nn, optim

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 4))
opt = optim.SGD(net.parameters(), lr=0.1)

inputs = torch.randn(100, 6)
labels = inputs[:, :4].argmax(dim=1)

for i in range(5):
    logits = net(inputs)
    pred = torch.argmax(logits, dim=1).float().requires_grad_()
    loss = nn.functional.mse_loss(pred, labels.float())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"iter {i}: loss {loss.item():.4f}")
