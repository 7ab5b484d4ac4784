"""Quality of wine from its chemistry (regression). The loss explodes, whatever the learning rate."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class WineNet(nn.Module):
    def __init__(self):
        super(WineNet, self).__init__()
        self.fc1 = nn.Linear(11, 32)
        self.fc2 = nn.Linear(32, 1)
        self.drop = nn.Dropout(p=0.1)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = self.drop(x)
        return self.fc2(x)


def load():
    rng = np.random.default_rng(7)
    chem = rng.normal(size=(240, 11)).astype("float32")
    quality = 5.6 + 0.8 * chem[:, 10] - 0.5 * chem[:, 1] + 0.1 * rng.normal(size=240)
    return torch.from_numpy(chem), torch.from_numpy(quality.astype("float32")).unsqueeze(1)


torch.manual_seed(7)
x_train, y_train = load()
net = WineNet()
criterion = nn.MSELoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

for epoch in range(12):
    net.train()
    running_loss = 0.0
    perm = torch.randperm(len(x_train))
    for i in range(0, len(perm), 40):
        idx = perm[i:i + 40]
        optimizer.zero_grad()
        outputs = net(x_train[idx])
        loss = criterion(outputs, y_train[idx])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print("epoch %d, loss %.4f" % (epoch + 1, running_loss / 6))
