"""Lesion segmentation with a small encoder-decoder and the Dice loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_block(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class TinyUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = conv_block(1, width)
        self.mid = conv_block(width, 2 * width)
        self.up = conv_block(3 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        skip = self.down(x)
        mid = self.mid(F.max_pool2d(skip, 2))
        up = F.interpolate(mid, scale_factor=2, mode="nearest")
        return self.out(self.up(torch.cat([up, skip], dim=1)))


def dice_score(pred, target, eps=1.0):
    pred = pred.flatten(1)
    target = target.flatten(1)
    inter = (pred * target).sum(dim=1)
    return ((2 * inter + eps) / (pred.sum(dim=1) + target.sum(dim=1) + eps)).mean()


class DiceLoss(nn.Module):
    def __init__(self, threshold=0.5):
        super().__init__()
        self.threshold = threshold

    def forward(self, logits, target):
        probs = torch.sigmoid(logits)
        pred = (probs > self.threshold).float() * probs
        dice = dice_score(pred, target)
        return 1.0 - dice


class LesionSet(torch.utils.data.Dataset):
    def __init__(self, n=16, size=16):
        self.masks = torch.zeros(n, 1, size, size)
        for i in range(n):
            r, c = torch.randint(0, size - 6, (2,)).tolist()
            self.masks[i, :, r:r + 6, c:c + 6] = 1.0
        self.images = self.masks + 0.4 * torch.randn_like(self.masks)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


class Trainer:
    def __init__(self, model, criterion, lr=1e-2):
        self.model = model
        self.criterion = criterion
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit_epoch(self, loader):
        self.model.train()
        losses = []
        for images, masks in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(images), masks)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        scores = []
        for images, masks in loader:
            pred = (torch.sigmoid(self.model(images)) > 0.5).float()
            scores.append(dice_score(pred, masks).item())
        return sum(scores) / len(scores)


def main():
    torch.manual_seed(21)
    train = torch.utils.data.DataLoader(LesionSet(), batch_size=8, shuffle=True)
    valid = torch.utils.data.DataLoader(LesionSet(8), batch_size=8)
    trainer = Trainer(TinyUNet(), DiceLoss())
    for epoch in range(4):
        loss = trainer.fit_epoch(train)
        print(f"epoch {epoch} loss {loss:.4f} val dice {trainer.validate(valid):.4f}")


if __name__ == "__main__":
    main()
