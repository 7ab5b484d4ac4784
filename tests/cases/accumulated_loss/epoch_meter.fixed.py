import torch
from torch import nn


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum = self.sum + value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def train_one_epoch(model, loader, optimizer, meter):
    meter.reset()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        meter.update(loss.item(), n=x.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(meter.avg)


if __name__ == "__main__":
    torch.manual_seed(6)
    ds = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randint(0, 2, (24,)))
    loader = torch.utils.data.DataLoader(ds, batch_size=8)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter = AverageMeter()
    for epoch in range(2):
        print(train_one_epoch(model, loader, optimizer, meter))
