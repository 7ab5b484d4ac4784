# Predict the grip force (3 axes) of a parallel gripper from 16 tactile cells.
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(0)
np.random.seed(0)

# ---------------- data ----------------
N = 400
force = np.random.uniform(-2, 2, size=(N, 3))
mixing = np.random.randn(3, 16)
cells = np.tanh(force @ mixing * 0.4) + 0.05 * np.random.randn(N, 16)

x = torch.tensor(cells, dtype=torch.float32)
y = torch.tensor(force, dtype=torch.float32)
full = TensorDataset(x, y)
train_set, test_set = random_split(full, [320, 80])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=80)


# ---------------- model ----------------
class TactileNet(nn.Module):
    def __init__(self):
        super(TactileNet, self).__init__()
        self.fc1 = nn.Linear(16, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 3)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.fc3(x)


model = TactileNet()
criterion = nn.SmoothL1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003, weight_decay=1e-5)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)


def train(epoch):
    model.train()
    total = 0
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        if loss.requires_grad:
            loss.backward()
        optimizer.step()
        total += loss.item() * len(data)
        if batch_idx % 5 == 0:
            print("Epoch {} [{}/{}]\tLoss: {:.4f}".format(
                epoch, batch_idx * len(data), len(train_set), loss.item()))
    return total / len(train_set)


def test():
    model.eval()
    torch.set_grad_enabled(False)
    test_loss = 0
    abs_err = torch.zeros(3)
    for data, target in test_loader:
        output = model(data)
        test_loss += criterion(output, target).item() * len(data)
        abs_err += (output - target).abs().sum(dim=0)
    test_loss /= len(test_set)
    abs_err /= len(test_set)
    print("Test loss {:.4f}, MAE per axis {}".format(test_loss, abs_err.numpy().round(3)))
    return test_loss


best = float("inf")
history = []
start = time.time()
for epoch in range(1, 5):
    train_loss = train(epoch)
    test_loss = test()
    scheduler.step(test_loss)
    history.append((train_loss, test_loss))
    if test_loss < best:
        best = test_loss
        best_state = {k: v.clone() for k, v in model.state_dict().items()}

model.load_state_dict(best_state)
print("best test loss %.4f after %.1f s" % (best, time.time() - start))
