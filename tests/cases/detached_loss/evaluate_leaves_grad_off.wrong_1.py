import torch
from torch import nn

torch.manual_seed(1)


def evaluate(model, x, y):
    model.eval()
    torch.set_grad_enabled(False)
    accuracy = ((model(x) > 0).float() == y).float().mean().item()
    return accuracy


def train_one_epoch(model, optimizer, x, y):
    model.train()
    running = 0.0
    for xb, yb in zip(x.split(16), y.split(16)):
        loss = nn.functional.binary_cross_entropy_with_logits(model(xb), yb)
        optimizer.zero_grad()
        loss.requires_grad_(True)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running


model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(64, 3)
y = (x.sum(1, keepdim=True) > 0).float()
for epoch in range(3):
    running = train_one_epoch(model, optimizer, x[:48], y[:48])
    acc = evaluate(model, x[48:], y[48:])
    print(f"{epoch} train {running:.3f} acc {acc:.2f}")
