# expect: pattern = leaf-rebound
# expect: also = nonleaf-grad
# expect: raises = AttributeError: 'NoneType' object has no attribute 'sign'
# expect: carrier = delta
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def heartbeat(n, length=48):
    t = torch.linspace(0, 1, length)
    label = torch.randint(0, 2, (n,))
    center = 0.45 + 0.05 * torch.rand(n, 1)
    width = torch.where(label == 1, 0.06, 0.03).unsqueeze(1)
    beat = torch.exp(-((t - center) ** 2) / (2 * width**2))
    drift = 0.1 * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))
    return (beat + drift + 0.05 * torch.randn(n, length)).unsqueeze(1), label


class BeatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 7, padding=3), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(8, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
        )
        self.fc = nn.Linear(64, 2)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


class LinfPGD:
    def __init__(self, model, eps=0.05, step_size=0.02, steps=5):
        self.model, self.eps, self.step_size, self.steps = model, eps, step_size, steps
        self.loss_fn = nn.CrossEntropyLoss()

    def perturb(self, x, y):
        delta = torch.empty_like(x).uniform_(-self.eps, self.eps)
        delta.requires_grad_(True)  # expect: place
        for _ in range(self.steps):
            loss = self.loss_fn(self.model(x + delta), y)
            loss.backward()
            delta = delta + self.step_size * delta.grad.sign()  # expect: place
            delta = torch.clamp(delta, -self.eps, self.eps)  # expect: place
        return (x + delta).detach()


def robust_accuracy(model, attack, loader):
    hits = 0
    for x, y in loader:
        hits += (model(attack.perturb(x, y)).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(8)
    data = TensorDataset(*heartbeat(192))
    loader = DataLoader(data, batch_size=48, shuffle=True)
    model = BeatNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    attack = LinfPGD(model)
    for epoch in range(8):
        for x, y in loader:
            x_adv = attack.perturb(x, y)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x_adv), y)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
    print("robust accuracy", robust_accuracy(model, attack, loader))


if __name__ == "__main__":
    main()
