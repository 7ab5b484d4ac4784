import copy

import torch
import torch.nn as nn


class AttentionPool(nn.Module):
    """Weighs the heartbeats of a recording; the weights are kept for the figure in the thesis."""

    def __init__(self, dim):
        super().__init__()
        self.key = nn.Linear(dim, dim)
        self.score = nn.Linear(dim, 1)
        self.attn_map = None

    def forward(self, beats):
        w = torch.softmax(self.score(torch.tanh(self.key(beats))), dim=1)
        self.attn_map = w.detach()
        return (w * beats).sum(1)


class ECGNet(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2, padding=3), nn.BatchNorm1d(8), nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.BatchNorm1d(16), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
        )
        self.pool = AttentionPool(16)
        self.fc = nn.Linear(16, n_classes)

    def forward(self, x):
        b, n, t = x.shape
        f = self.encoder(x.reshape(b * n, 1, t)).reshape(b, n, -1)
        return self.fc(self.pool(f))


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.bad = patience, 0
        self.best_loss, self.best_model = float("inf"), None

    def update(self, val_loss, model):
        if val_loss < self.best_loss:
            self.best_loss, self.bad = val_loss, 0
            self.best_model = copy.deepcopy(model)
        else:
            self.bad += 1
        return self.bad >= self.patience


def make_set(n):
    y = torch.randint(0, 3, (n,))
    t = torch.linspace(0, 1, 40)
    x = torch.sin(6.28 * (2 + 2 * y.view(-1, 1, 1)) * t) + 0.3 * torch.randn(n, 6, 40)
    return x, y


torch.manual_seed(2)
train_x, train_y = make_set(60)
val_x, val_y = make_set(24)

model = ECGNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
stopper = EarlyStopping()

for epoch in range(6):
    model.train()
    for i in range(0, 60, 20):
        optimizer.zero_grad()
        loss = criterion(model(train_x[i:i + 20]), train_y[i:i + 20])
        loss.backward()
        optimizer.step()

    model.eval()
    val_loss = criterion(model(val_x), val_y).item()
    print(epoch, loss.item(), val_loss)
    if stopper.update(val_loss, model):
        break

model = stopper.best_model
print('most watched beat:', model.pool.attn_map.mean(0).squeeze(-1).argmax().item())
