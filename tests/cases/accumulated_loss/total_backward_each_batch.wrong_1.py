import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
batches = [(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(4)]

for epoch in range(2):
    total_loss = 0
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        total_loss += loss
        total_loss.backward(retain_graph=True)
        optimizer.step()
    print(epoch, total_loss.item() / len(batches))
