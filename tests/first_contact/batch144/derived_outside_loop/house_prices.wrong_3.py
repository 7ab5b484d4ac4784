# House prices with a small neural network
# (my first regression project, features are made up so everybody can run it)
import numpy as np
import torch
import torch.nn as nn

np.random.seed(1)
torch.manual_seed(1)

# ---------------------------------------------------------------- data
n_houses = 600
area = np.random.uniform(30, 220, n_houses)
rooms = np.round(area / 28 + np.random.randn(n_houses) * 0.7).clip(1)
age = np.random.uniform(0, 90, n_houses)
distance = np.random.exponential(6, n_houses)
garden = (np.random.rand(n_houses) > 0.6).astype(float)
price = (
    2.1 * area + 9 * rooms - 0.8 * age - 4.5 * distance + 25 * garden + 60
    + np.random.randn(n_houses) * 15
)

X = np.stack([area, rooms, age, distance, garden], axis=1)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = (price - price.mean()) / price.std()

X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32).unsqueeze(1)

X_train, X_test = X[:480], X[480:]
y_train, y_test = y[:480], y[480:]

# ---------------------------------------------------------------- model
model = nn.Sequential(
    nn.Linear(5, 32),
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)

# ridge regularization, weights only
alpha = 0.002
penalty = 0
for name, p in model.named_parameters():
    if "weight" in name:
        penalty = penalty + (p ** 2).sum().item()


def r2_score(pred, target):
    ss_res = ((target - pred) ** 2).sum()
    ss_tot = ((target - target.mean()) ** 2).sum()
    return 1 - ss_res / ss_tot


# ---------------------------------------------------------------- training
batch_size = 60
n_epochs = 20
history = {"train": [], "test": []}

for epoch in range(n_epochs):
    model.train()
    perm = torch.randperm(len(X_train))
    epoch_loss = 0.0
    for start in range(0, len(X_train), batch_size):
        rows = perm[start:start + batch_size]
        xb = X_train[rows]
        yb = y_train[rows]

        pred = model(xb)
        loss = criterion(pred, yb) + alpha * penalty

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(rows)
    scheduler.step()

    model.eval()
    with torch.no_grad():
        test_r2 = r2_score(model(X_test), y_test)
    history["train"].append(epoch_loss / len(X_train))
    history["test"].append(test_r2.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {history['train'][-1]:.4f}  R2 {history['test'][-1]:.3f}")

print("best R2 on the test set:", round(max(history["test"]), 3))
