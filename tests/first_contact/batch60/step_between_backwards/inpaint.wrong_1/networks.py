import torch
from torch import nn


def conv_block(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1), nn.LeakyReLU(0.2))


class CompletionNet(nn.Module):
    """Gets the holed picture and the mask, paints the hole."""

    def __init__(self, width=16):
        super().__init__()
        self.encode = nn.Sequential(conv_block(2, width), conv_block(width, 2 * width, 2))
        self.middle = conv_block(2 * width, 2 * width)
        self.decode = nn.Sequential(nn.Upsample(scale_factor=2), conv_block(2 * width, width), nn.Conv2d(width, 1, 3, 1, 1))

    def forward(self, image, mask):
        z = self.encode(torch.cat([image * (1 - mask), mask], dim=1))
        out = torch.sigmoid(self.decode(z + self.middle(z)))
        return image * (1 - mask) + out * mask


class PatchCritic(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(conv_block(1, width, 2), conv_block(width, 2 * width, 2), nn.Conv2d(2 * width, 1, 3, 1, 1))

    def forward(self, image):
        return self.body(image)
