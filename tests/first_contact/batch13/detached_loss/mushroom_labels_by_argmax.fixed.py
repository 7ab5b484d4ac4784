"""Edible or not? First network of a course, on one-hot coded mushrooms."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MushroomModel(nn.Module):
    def __init__(self, in_features, hidden=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(in_features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        return self.layers(x)


def train_step(model, loader, loss_fn, optimizer):
    model.train()
    total, correct = 0.0, 0
    for X, y in loader:
        logits = model(X)
        preds = logits.argmax(dim=1)
        loss = loss_fn(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        correct += (preds == y).sum().item()
    return total / len(loader), correct / len(loader.dataset)


torch.manual_seed(42)
X = torch.randint(0, 2, (160, 12)).float()
y = ((X[:, 0] + X[:, 4] - X[:, 7]) > 0.5).long()
model = MushroomModel(12)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
for epoch in range(6):
    loss, acc = train_step(model, loader, loss_fn, optimizer)
    print(f"epoch {epoch} loss {loss:.4f} acc {acc:.3f}")
