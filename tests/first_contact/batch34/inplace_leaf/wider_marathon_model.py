# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = weight, wide, fc, bias, grown
# -*- coding: utf-8 -*-
# Finishing time of a marathon from splits. Start with a small net, make it wider when the loss stalls
# (units are copied over so that the function stays the same).
import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)

N = 256
splits = np.cumsum(np.random.gamma(9.0, 0.11, size=(N, 6)), axis=1)
finish = splits[:, -1] * 1.4 + 0.3 * (splits[:, -1] - 2 * splits[:, 2]) ** 2 + np.random.randn(N) * 0.05
X = torch.from_numpy((splits - splits.mean(0)) / splits.std(0)).float()
Y = torch.from_numpy((finish - finish.mean()) / finish.std()).float().unsqueeze(1)


class Net(nn.Module):
    def __init__(self, width):
        super(Net, self).__init__()
        self.width = width
        self.fc1 = nn.Linear(6, width)
        self.fc2 = nn.Linear(width, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


def widen(net, new_width):
    """Net2Wider: new units are copies of randomly drawn old ones, outgoing weights are shared out."""
    old = net.width
    grown = Net(new_width)
    source = torch.cat([torch.arange(old), torch.randint(0, old, (new_width - old,))])
    counts = torch.bincount(source, minlength=old).float()

    grown.fc1.weight[:old] = net.fc1.weight  # expect: place
    grown.fc1.bias[:old] = net.fc1.bias  # expect: place
    for j in range(old, new_width):
        k = source[j]
        grown.fc1.weight[j] = net.fc1.weight[k] + 0.01 * torch.randn(6)  # expect: place
        grown.fc1.bias[j] = net.fc1.bias[k]  # expect: place
    grown.fc2.weight[:] = net.fc2.weight[:, source] / counts[source]  # expect: place
    grown.fc2.bias[:] = net.fc2.bias  # expect: place
    return grown


def train(net, epochs, lr=0.02):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        perm = torch.randperm(N)
        total = 0.0
        for start in range(0, N, 64):
            idx = perm[start:start + 64]
            optimizer.zero_grad()
            loss = loss_fn(net(X[idx]), Y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
    print("width %2d  loss %.4f" % (net.width, total / N))
    return total / N


net = Net(4)
loss = train(net, 8)
for width in (8, 16):
    net = widen(net, width)
    loss = train(net, 8)
