import torch
from torch import nn

from neurons import SpikingNet


def spike_counts(net, x, steps):
    return torch.stack([net(x * torch.rand_like(x)) for _ in range(steps)]).sum(0)


def train(net, data, epochs=2, steps=5):
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        for x, y in data:
            loss = criterion(spike_counts(net, x, steps), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            net.hidden.mem = net.hidden.mem.detach()
            net.out.mem = net.out.mem.detach()
        print(epoch, loss.item())


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.rand(24, 6)
    y = (x[:, 0] > x[:, 1]).long()
    train(SpikingNet(6, 12, 2), list(zip(x.split(8), y.split(8))))
