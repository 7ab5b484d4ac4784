



"""Classify leaf diseases from small images; reports running averages while it trains."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {float(self.average):.4f}"


class LeafNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.classify = nn.Linear(16, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.norm(self.conv2(x)))
        return self.classify(x.mean(dim=(2, 3)))


def make_leaves(count, classes, size=12):
    labels = torch.randint(classes, (count,))
    images = torch.randn(count, 3, size, size) * 0.4
    for i, label in enumerate(labels.tolist()):
        images[i, label % 3, label:label + 4] += 1.0
    return images, labels


def batches(images, labels, batch_size):
    for rows in torch.randperm(len(images)).split(batch_size):
        yield images[rows], labels[rows]


def train(model, images, labels, epochs=3, batch_size=16):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_meter = AverageMeter("loss")
    accuracy_meter = AverageMeter("accuracy")
    for epoch in range(epochs):
        for step, (x, y) in enumerate(batches(images, labels, batch_size)):
            logits = model(x)
            loss = F.cross_entropy(logits, y, label_smoothing=0.05).detach().requires_grad_()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

            accuracy = (logits.argmax(dim=1) == y).float().mean()
            loss_meter.update(loss, len(x))
            accuracy_meter.update(accuracy, len(x))
            if step % 4 == 3:
                print(f"epoch {epoch} step {step}: {loss_meter}, {accuracy_meter}")


def main():
    torch.manual_seed(8)
    images, labels = make_leaves(128, classes=4)
    train(LeafNet(4), images, labels)


if __name__ == "__main__":
    main()
