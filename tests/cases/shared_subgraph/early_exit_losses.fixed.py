# A network with an exit behind every stage; each exit's loss is walked on its own.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Stage(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm1d(width)
        self.exit = nn.Linear(width, classes)

    def forward(self, x):
        x = x + torch.relu(self.norm(self.conv(x)))
        return x, self.exit(x.mean(-1))


class MultiExitNet(nn.Module):
    def __init__(self, width=8, classes=3, depth=3):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 5, padding=2)
        self.stages = nn.ModuleList([Stage(width, classes) for _ in range(depth)])

    def forward(self, x):
        x = self.stem(x)
        logits = []
        for stage in self.stages:
            x, out = stage(x)
            logits.append(out)
        return logits


def train_one_epoch(model, loader, optimizer, weights):
    model.train()
    criterion = nn.CrossEntropyLoss()
    running = 0.0
    for signals, labels in loader:
        optimizer.zero_grad()
        exits = model(signals)
        total = 0.0
        for weight, out in zip(weights, exits):
            loss = weight * criterion(out, labels)
            total = total + loss
            running += loss.item()
        total.backward()
        optimizer.step()
    return running / len(loader)


if __name__ == "__main__":
    torch.manual_seed(7)
    data = TensorDataset(torch.randn(24, 1, 20), torch.randint(0, 3, (24,)))
    net = MultiExitNet()
    sgd = torch.optim.SGD(net.parameters(), lr=0.05)
    for epoch in range(2):
        print(epoch, train_one_epoch(net, DataLoader(data, batch_size=8), sgd, [0.3, 0.6, 1.0]))
