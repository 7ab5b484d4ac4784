# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = pred, out
"""House noise levels from map features. The correlation with the truth is printed while training."""
import numpy as np
import torch
import torch.nn as nn


class Noise(nn.Module):
    def __init__(self):
        super(Noise, self).__init__()
        self.l1 = nn.Linear(6, 14)
        self.l2 = nn.Linear(14, 1)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x))).view(-1)


def pearson(a, b):
    return np.corrcoef(a, b)[0, 1]


def train_epoch(net, opt, X, Y, size=25):
    rs = []
    for i in range(0, len(X), size):
        x, y = torch.from_numpy(X[i:i + size]), torch.from_numpy(Y[i:i + size])
        opt.zero_grad()
        pred = net(x)
        loss = ((pred - y) ** 2).mean()
        rs.append(pearson(pred.numpy(), y.numpy()))  # expect: place
        loss.backward()
        opt.step()
    return float(np.mean(rs))


rng = np.random.default_rng(3)
X = rng.normal(size=(100, 6)).astype(np.float32)
Y = (X[:, 0] - 0.5 * X[:, 1] * X[:, 2] + 50).astype(np.float32)
torch.manual_seed(3)
net = Noise()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(4):
    print(epoch, train_epoch(net, opt, X, Y))
