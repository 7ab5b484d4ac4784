"""x2 super-resolution of random textures with a trunk of channel-attention blocks."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class ChannelAttention(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        self.fc = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, channels // reduction, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels // reduction, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return x * self.fc(x)


class AttentionBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.act = nn.ReLU(inplace=True)
        self.ca = ChannelAttention(channels)

    def forward(self, x):
        return self.ca(self.conv2(self.act(self.conv1(x))))


class AttentionSR(nn.Module):
    def __init__(self, channels=16, n_blocks=3, scale=2):
        super().__init__()
        self.head = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = nn.ModuleList([AttentionBlock(channels) for _ in range(n_blocks)])
        self.fuse = nn.Conv2d(channels, channels, 1)
        self.tail = nn.Sequential(
            nn.Conv2d(channels, scale * scale, 3, padding=1), nn.PixelShuffle(scale)
        )
        self.scale = scale

    def forward(self, lr):
        feat = self.head(lr)
        out = feat
        for block in self.blocks:
            out = out + block(out)
        out = self.fuse(out)
        base = F.interpolate(lr, scale_factor=self.scale, mode="bilinear", align_corners=False)
        return base + self.tail(out)


def textures(n, size=24):
    low = torch.randn(n, 1, size // 4, size // 4)
    return torch.tanh(F.interpolate(low, size=(size, size), mode="bicubic", align_corners=False))


def main(args):
    torch.manual_seed(args.seed)
    hr = textures(args.images)
    lr = F.avg_pool2d(hr, 2)
    model = AttentionSR(args.channels, args.blocks)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    criterion = nn.L1Loss()

    for epoch in range(args.epochs):
        running = 0.0
        for idx in torch.randperm(args.images).split(args.batch_size):
            optimizer.zero_grad()
            sr = model(lr[idx])
            loss = criterion(sr, hr[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        scheduler.step()
        print(f"[{epoch + 1}/{args.epochs}] L1 {running / args.images:.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=32)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
