import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss(reduction="none")

for epoch in range(2):
    inputs = torch.randn(8, 6)
    labels = torch.randint(0, 3, (8,))
    outputs = net(inputs)
    losses = criterion(outputs, labels)
    optimizer.zero_grad()
    losses.mean().backward()
    optimizer.step()
