from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.fc = nn.Linear(8, 1000)

    def forward(self, x):
        return self.fc(self.conv(x).relu().mean((2, 3)))


def resnet18(pretrained=False):
    return Small()
