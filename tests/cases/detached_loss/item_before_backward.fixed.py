import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def compute_loss(model, criterion, batch):
    features, labels = batch
    return criterion(model(features), labels)


def train(model, loader, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    history = []
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            loss = compute_loss(model, criterion, batch)
            loss.backward()
            optimizer.step()
            total += float(loss)
        history.append(total / len(loader))
        print("epoch", epoch, "loss", history[-1])
    return history


torch.manual_seed(0)
X = torch.randn(60, 5)
loader = DataLoader(TensorDataset(X, (X[:, 0] > 0).long()), batch_size=15)
train(nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2)), loader)
