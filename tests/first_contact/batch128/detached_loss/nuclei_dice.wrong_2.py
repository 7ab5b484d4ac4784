import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

SIZE = 24
EPOCHS = 3
BATCH = 8
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

torch.manual_seed(42)
np.random.seed(42)


class NucleiDataset(Dataset):
    def __init__(self, count):
        self.images, self.masks = [], []
        yy, xx = np.mgrid[:SIZE, :SIZE]
        for _ in range(count):
            m = np.zeros((SIZE, SIZE), dtype=np.float32)
            for _ in range(np.random.randint(1, 4)):
                cy, cx = np.random.randint(4, SIZE - 4, 2)
                r = np.random.randint(2, 5)
                m[(yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2] = 1.0
            img = 0.6 * m + 0.25 * np.random.rand(SIZE, SIZE).astype(np.float32)
            self.images.append(img[None])
            self.masks.append(m[None])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), torch.from_numpy(self.masks[i])


class MiniUNet(nn.Module):
    def __init__(self, ch=8):
        super(MiniUNet, self).__init__()
        self.enc1 = nn.Conv2d(1, ch, 3, padding=1)
        self.enc2 = nn.Conv2d(ch, 2 * ch, 3, padding=1)
        self.mid = nn.Conv2d(2 * ch, 2 * ch, 3, padding=1)
        self.dec = nn.Conv2d(3 * ch, ch, 3, padding=1)
        self.out = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        a = F.relu(self.enc1(x))
        b = F.relu(self.enc2(F.max_pool2d(a, 2)))
        b = F.relu(self.mid(b))
        up = F.interpolate(b, scale_factor=2, mode='nearest')
        c = F.relu(self.dec(torch.cat([a, up], dim=1)))
        return self.out(c)


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super(DiceLoss, self).__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        n = target.size(0)
        mask = (torch.sigmoid(logits) > 0.5).float().view(n, -1).requires_grad_()
        target = target.view(n, -1)
        inter = (mask * target).sum(1)
        score = (2. * inter + self.smooth) / (mask.sum(1) + target.sum(1) + self.smooth)
        return 1 - score.mean()


def iou(logits, target):
    hit = logits > 0
    ref = target > 0.5
    return ((hit & ref).sum().item() + 1) / ((hit | ref).sum().item() + 1)


train_loader = DataLoader(NucleiDataset(48), batch_size=BATCH, shuffle=True)
val_loader = DataLoader(NucleiDataset(16), batch_size=BATCH)

net = MiniUNet().to(device)
criterion = DiceLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for img, msk in train_loader:
        img, msk = img.to(device), msk.to(device)
        optimizer.zero_grad()
        loss = criterion(net(img), msk)
        loss.backward()
        optimizer.step()
        running += loss.item()

    net.eval()
    with torch.no_grad():
        val = np.mean([iou(net(i.to(device)), m.to(device)) for i, m in val_loader])
    print('Epoch %d  dice loss %.4f  val iou %.4f' % (epoch + 1, running / len(train_loader), val))
