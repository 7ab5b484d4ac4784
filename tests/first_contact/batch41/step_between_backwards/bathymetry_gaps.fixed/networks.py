import torch
import torch.nn as nn


class ResnetBlock(nn.Module):
    def __init__(self, dim, dilation=1):
        super().__init__()
        self.conv_block = nn.Sequential(
            nn.Conv2d(dim, dim, 3, padding=dilation, dilation=dilation),
            nn.InstanceNorm2d(dim),
            nn.ReLU(True),
            nn.Conv2d(dim, dim, 3, padding=1),
            nn.InstanceNorm2d(dim),
        )

    def forward(self, x):
        return x + self.conv_block(x)


class InpaintGenerator(nn.Module):
    def __init__(self, width=12, blocks=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(2, width, 5, padding=2), nn.ReLU(True))
        self.middle = nn.Sequential(*[ResnetBlock(width, 2) for _ in range(blocks)])
        self.decoder = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.decoder(self.middle(self.encoder(x))))


class Discriminator(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(1, width, 4, stride=2, padding=1), nn.LeakyReLU(0.2, inplace=True))
        self.conv2 = nn.Sequential(nn.Conv2d(width, 2 * width, 4, stride=2, padding=1), nn.LeakyReLU(0.2, inplace=True))
        self.conv3 = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, x):
        conv1 = self.conv1(x)
        conv2 = self.conv2(conv1)
        return torch.sigmoid(self.conv3(conv2)), [conv1, conv2]
