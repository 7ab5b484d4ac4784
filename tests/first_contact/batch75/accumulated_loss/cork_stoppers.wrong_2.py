import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_data(n=240):
    """Wall images of cork stoppers, 12 x 12 grey values; grade 0, 1 or 2 by the pores."""
    grade = torch.randint(0, 3, (n,))
    img = 0.7 + 0.05 * torch.randn(n, 1, 12, 12)
    for i in range(n):
        for _ in range(2 + 5 * int(grade[i])):
            r, c = torch.randint(0, 12, (2,))
            img[i, 0, r, c] -= 0.5
    return TensorDataset(img, grade)


class CorkNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.fc = nn.Linear(64, 3)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def train(model, loader, loss_fn, optimizer):
    model.train()
    train_loss, seen = 0, 0
    for images, labels in loader:
        outputs = model(images)
        train_loss = loss_fn(outputs, labels)
        optimizer.zero_grad()
        seen += 1
    train_loss = train_loss / seen
    train_loss.backward()
    optimizer.step()
    return float(train_loss)


@torch.no_grad()
def test(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()

    torch.manual_seed(4)
    train_set, test_set = random_split(make_data(), [192, 48])
    train_loader = DataLoader(train_set, batch_size=24, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=48)
    model = CorkNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train(model, train_loader, nn.CrossEntropyLoss(), optimizer)
        print(f"epoch {epoch} loss {loss:.4f} acc {test(model, test_loader):.3f}")
