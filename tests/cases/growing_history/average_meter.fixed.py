import torch
import torch.nn as nn


class Meter:
    def __init__(self, name):
        self.name, self.total, self.count = name, 0.0, 0
        self.values = []

    def update(self, value, n=1):
        self.total += value * n
        self.count += n
        self.values.append(value)

    @property
    def mean(self):
        return self.total / max(self.count, 1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.loss_meter = Meter("loss")
        self.accuracy_meter = Meter("accuracy")

    def run(self, batches):
        for x, y in batches:
            logits = self.model(x)
            loss = nn.functional.cross_entropy(logits, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.loss_meter.update(loss.item(), n=len(x))
            self.accuracy_meter.update((logits.argmax(1) == y).float().mean().item(), n=len(x))
        return self.loss_meter.mean, self.accuracy_meter.mean


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 3))
batches = []
for _ in range(15):
    x = torch.randn(10, 6)
    batches.append((x, x[:, :3].argmax(1)))
print("loss %.4f accuracy %.3f" % Trainer(net).run(batches))
