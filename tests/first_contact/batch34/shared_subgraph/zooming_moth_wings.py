# expect: pattern = shared-subgraph
# expect: also = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scores, logits, crop, x
"""Fine-grained moth species: a recurrent zoom. Scale 0 sees the whole wing and predicts where to look;
every further scale sees a soft crop. A finer scale should be surer than the one before it (rank loss)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SPECIES = 4
SCALES = 3


class ScaleNet(nn.Module):
    def __init__(self):
        super(ScaleNet, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2))
        self.cls = nn.Linear(64, SPECIES)
        self.where = nn.Linear(64, 3)

    def forward(self, x):
        f = self.features(x).flatten(1)
        return self.cls(f), torch.sigmoid(self.where(f))


class ZoomNet(nn.Module):
    def __init__(self):
        super(ZoomNet, self).__init__()
        self.scales = nn.ModuleList([ScaleNet() for _ in range(SCALES)])

    def crop(self, x, where, sharp=10.0):
        n = x.size(-1)
        pos = torch.linspace(0, 1, n)
        cx, cy, half = where[:, 0:1], where[:, 1:2], 0.2 + 0.3 * where[:, 2:3]
        window = lambda c: torch.sigmoid(sharp * (pos - c + half)) - torch.sigmoid(sharp * (pos - c - half))
        mask = window(cy).unsqueeze(2) * window(cx).unsqueeze(1)
        return x * mask.unsqueeze(1)

    def forward(self, x):
        logits = []
        for i, net in enumerate(self.scales):
            y, where = net(x)
            logits.append(y)
            if i + 1 < SCALES:
                x = self.crop(x, where)  # expect: place
        return logits


class RankLoss(nn.Module):
    def __init__(self, margin=0.05):
        super(RankLoss, self).__init__()
        self.margin = margin

    def forward(self, coarse, fine, target):
        p1 = F.softmax(coarse, 1).gather(1, target.view(-1, 1))
        p2 = F.softmax(fine, 1).gather(1, target.view(-1, 1))
        return torch.clamp(p1 - p2 + self.margin, min=0).mean()


class Manager(object):
    def __init__(self, model):
        self.model = model
        self.rank = RankLoss()
        self.ce = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    def do_batch(self, batch, label):
        self.model.train()
        self.optimizer.zero_grad()
        scores = self.model(batch)
        total = 0.0
        for i in range(len(scores)):
            loss = self.ce(scores[i], label)
            if i > 0:
                loss = loss + self.rank(scores[i - 1], scores[i], label)
            loss.backward()  # expect: place
            total += loss.item()
        self.optimizer.step()
        return total


def wings(n):
    label = torch.randint(0, SPECIES, (n,))
    img = 0.2 * torch.randn(n, 1, 20, 20)
    for k in range(n):
        c = int(label[k])
        img[k, 0, 5 + 2 * c:8 + 2 * c, 10:14] += 1.5
    return img, label


if __name__ == '__main__':
    torch.manual_seed(5)
    manager = Manager(ZoomNet())
    for epoch in range(2):
        for _ in range(4):
            total = manager.do_batch(*wings(12))
        print('epoch', epoch, 'loss %.3f' % total)
