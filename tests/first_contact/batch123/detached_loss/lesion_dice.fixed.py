import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


# %% data: bright ellipses on noise
def make_scans(n=48, size=24):
    g = torch.Generator().manual_seed(0)
    ax = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(ax, ax, indexing="ij")
    c = torch.rand(n, 2, generator=g) - 0.5
    r = 0.2 + 0.3 * torch.rand(n, 1, 1, generator=g)
    d = (xx - c[:, 0, None, None]) ** 2 + 1.5 * (yy - c[:, 1, None, None]) ** 2
    mask = (d < r ** 2).float()
    img = 0.8 * mask + 0.4 * torch.randn(n, size, size, generator=g)
    return img.unsqueeze(1), mask.unsqueeze(1)


images, masks = make_scans()
train_loader = DataLoader(TensorDataset(images[:40], masks[:40]), batch_size=8)
val_loader = DataLoader(TensorDataset(images[40:], masks[40:]), batch_size=8)


# %% model
def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = block(1, 8)
        self.mid = block(8, 16)
        self.up = block(24, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.head(self.up(torch.cat([a, b], dim=1)))


# %% loss and metric
def dice_score(pr, gt, eps=1.0):
    inter = (pr * gt).sum(dim=(1, 2, 3))
    total = pr.sum(dim=(1, 2, 3)) + gt.sum(dim=(1, 2, 3))
    return ((2 * inter + eps) / (total + eps)).mean()


class DiceLoss(nn.Module):
    def __init__(self, threshold=0.5):
        super().__init__()
        self.threshold = threshold

    def forward(self, logits, gt):
        pr = torch.sigmoid(logits)
        return 1 - dice_score(pr, gt)


model = TinyUNet()
criterion = DiceLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

# %% train
for epoch in range(4):
    model.train()
    epoch_loss = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * x.size(0)
    model.eval()
    with torch.no_grad():
        dice = sum(dice_score((torch.sigmoid(model(x)) > 0.5).float(), y).item() for x, y in val_loader) / len(val_loader)
    print(f"epoch {epoch + 1}: loss {epoch_loss / 40:.4f}, val dice {dice:.4f}")
