# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = val_loss, history
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class WearNet(nn.Module):
    """Remaining breaking load of a climbing rope from magnetic flux traces."""

    def __init__(self, n_channels=3):
        super().__init__()
        self.conv1 = nn.Conv1d(n_channels, 8, 5)
        self.conv2 = nn.Conv1d(8, 8, 5)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool1d(F.relu(self.conv2(x)), 2)
        return self.fc(self.drop(x.mean(dim=2))).squeeze(1)


def traces(rng, n):
    wear = rng.uniform(0, 1, n)
    x = rng.normal(0, 1, (n, 3, 32)) * (0.5 + wear[:, None, None])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(1 - wear, dtype=torch.float32)


def train_one_epoch(model, optimizer, x, y, batch_size):
    model.train()
    train_loss = 0.0
    order = torch.randperm(len(x))
    for idx in order.split(batch_size):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * len(idx)
    return train_loss / len(x)


def validate(model, x, y, batch_size):
    model.eval()
    val_loss = 0.0
    for xb, yb in zip(x.split(batch_size), y.split(batch_size)):
        val_loss += F.mse_loss(model(xb), yb) * len(xb)  # expect: place
    return val_loss / len(x)  # expect: place


def main():
    torch.manual_seed(7)
    rng = np.random.default_rng(7)
    x_train, y_train = traces(rng, 80)
    x_val, y_val = traces(rng, 60)
    model = WearNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    history = {"train": [], "val": []}
    best = float("inf")
    for epoch in range(6):
        train_loss = train_one_epoch(model, optimizer, x_train, y_train, 16)
        val_loss = validate(model, x_val, y_val, 10)  # expect: place
        history["train"].append(train_loss)
        history["val"].append(val_loss)  # expect: place
        if val_loss < best:
            best = val_loss
            print("new best at epoch", epoch)
        print(f"epoch {epoch}: train {train_loss:.4f} val {val_loss:.4f}")
    print("lowest validation loss", float(min(history["val"])))


if __name__ == "__main__":
    main()
