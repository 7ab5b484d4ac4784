import random

import torch
import torch.nn as nn

EPOCHS, N, LR = 2, 9, 0.05


class Regressor(nn.Module):
    def __init__(self):
        super(Regressor, self).__init__()
        self.fc1 = nn.Linear(4, 10)
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        x = torch.sigmoid(self.fc1(x))
        return self.fc2(x)


def load():
    random.seed(3)
    rows = [[random.gauss(0, 1) for _ in range(4)] for _ in range(N)]
    targets = [[r[0] - 0.5 * r[1] * r[2] + random.gauss(0, 0.05)] for r in rows]
    return torch.tensor(rows), torch.tensor(targets)


class History:
    def __init__(self):
        self.epochs = []

    def log(self, errors):
        self.epochs.append(sum(errors) / len(errors))

    def __str__(self):
        return " -> ".join("%.4f" % e for e in self.epochs)


torch.manual_seed(3)
net = Regressor()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=LR)
X, Y = load()
history = History()

for epoch in range(EPOCHS):
    errors = []
    # stochastic gradient descent: one update for every row
    outputs = net(X)
    loss = 0
    for i in range(N):
        error = criterion(outputs[i], Y[i])
        loss = loss + error
        errors.append(error.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.log(errors)

print("mean squared error by epoch:", history)
