# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = pred, inputs, loss, DiceLoss, threshold
"""Ice / ocean segmentation along a calving front. BCE worked, now with Dice as the metric we report."""
import argparse
import logging

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(message)s")


def double_conv(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
        nn.Conv2d(c_out, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, n_channels=1, n_classes=1, width=8):
        super().__init__()
        self.inc = double_conv(n_channels, width)
        self.down = double_conv(width, 2 * width)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.conv = double_conv(2 * width, width)
        self.outc = nn.Conv2d(width, n_classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down(self.pool(x1))
        return self.outc(self.conv(torch.cat([x1, self.up(x2)], dim=1)))


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0, threshold=0.5):
        super().__init__()
        self.smooth = smooth
        self.threshold = threshold

    def forward(self, inputs, targets):
        inputs = torch.sigmoid(inputs)
        inputs = (inputs > self.threshold).float()  # expect: place
        inputs, targets = inputs.flatten(1), targets.flatten(1)
        intersection = (inputs * targets).sum(1)
        dice = (2.0 * intersection + self.smooth) / (inputs.sum(1) + targets.sum(1) + self.smooth)
        return 1 - dice.mean()


class Fronts(torch.utils.data.Dataset):
    def __init__(self, n, size=16):
        base = torch.randint(4, size - 4, (n, 1)) + torch.cumsum(torch.randint(-1, 2, (n, size)), 1)
        rows = torch.arange(size).view(1, size, 1)
        self.mask = (rows < base.unsqueeze(1)).float().unsqueeze(1)
        self.image = self.mask + 0.5 * torch.randn(n, 1, size, size)

    def __len__(self):
        return len(self.mask)

    def __getitem__(self, i):
        return {"image": self.image[i], "mask": self.mask[i]}


def train_net(net, epochs, batch_size, lr):
    loader = torch.utils.data.DataLoader(Fronts(48), batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=lr, weight_decay=1e-8, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", patience=2)
    criterion = DiceLoss()
    for epoch in range(epochs):
        net.train()
        epoch_loss = 0
        for batch in loader:
            masks_pred = net(batch["image"])
            loss = criterion(masks_pred, batch["mask"])  # expect: place
            epoch_loss += loss.item()
            optimizer.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_value_(net.parameters(), 0.1)
            optimizer.step()
        scheduler.step(epoch_loss)
        logging.info(f"epoch {epoch + 1} dice loss {epoch_loss / len(loader):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-e", "--epochs", type=int, default=3)
    parser.add_argument("-b", "--batch-size", type=int, default=12)
    parser.add_argument("-l", "--learning-rate", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(10)
    train_net(UNet(), args.epochs, args.batch_size, args.learning_rate)
