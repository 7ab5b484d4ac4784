"""Classify skin moles, then make the confidences honest."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from calibration import ModelWithTemperature


def moles(n, generator):
    x = torch.randn(n, 6, generator=generator)
    score = torch.stack([x[:, 0] + x[:, 1], x[:, 2] - x[:, 0], 0.5 * x[:, 3]], dim=1)
    noise = -torch.log(-torch.log(torch.rand(n, 3, generator=generator)))
    return x, (score + noise).argmax(dim=1)


def batches(x, y, size=32):
    return list(zip(x.split(size), y.split(size)))


def train(net, loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    net = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))
    print("train loss %.4f" % train(net, batches(*moles(96, generator)), epochs=25))
    net.eval()
    scaled = ModelWithTemperature(net)
    scaled.set_temperature(batches(*moles(128, generator)))
    print("temperature %.3f" % scaled.temperature.item())
