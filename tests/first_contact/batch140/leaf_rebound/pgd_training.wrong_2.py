"""Adversarial training of a traffic-sign classifier with a PGD attack."""
import torch
import torch.nn as nn
import torch.nn.functional as F

N_CLASSES = 5


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.classifier = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class PGDAttack:
    def __init__(self, model, eps=0.06, alpha=0.02, steps=4):
        self.model = model
        self.eps = eps
        self.alpha = alpha
        self.steps = steps

    def random_start(self, x):
        noise = torch.empty_like(x).uniform_(-self.eps, self.eps)
        return (x + noise).clamp(0.0, 1.0)

    def project(self, x_adv, x):
        delta = torch.clamp(x_adv - x, -self.eps, self.eps)
        return torch.clamp(x + delta, 0.0, 1.0)

    def __call__(self, x, y):
        x_adv = self.random_start(x)
        x_adv.requires_grad_(True)
        for _ in range(self.steps):
            loss = F.cross_entropy(self.model(x_adv), y)
            loss.backward()
            if x_adv.grad is None:
                break
            x_adv = x_adv + self.alpha * x_adv.grad.sign()
            x_adv = self.project(x_adv, x)
        return x_adv.detach()


def make_signs(n):
    y = torch.randint(0, N_CLASSES, (n,))
    x = 0.5 + 0.15 * torch.randn(n, 3, 12, 12)
    for i, label in enumerate(y.tolist()):
        x[i, label % 3, 2 * label:2 * label + 4, 3:9] += 0.4
    return x.clamp(0.0, 1.0), y


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def train_step(model, attack, optimizer, x, y, clean_weight=0.5):
    x_adv = attack(x, y)
    optimizer.zero_grad()
    clean = F.cross_entropy(model(x), y)
    robust = F.cross_entropy(model(x_adv), y)
    loss = clean_weight * clean + (1 - clean_weight) * robust
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(8)
    x, y = make_signs(64)
    model = SignNet()
    attack = PGDAttack(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        total = 0.0
        for start in range(0, len(x), 16):
            total += train_step(model, attack, optimizer, x[start:start + 16], y[start:start + 16])
        print(f"epoch {epoch} loss {total / 4:.4f} clean acc {accuracy(model, x, y):.2f}")


if __name__ == "__main__":
    main()
