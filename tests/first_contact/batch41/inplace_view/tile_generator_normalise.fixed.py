"""Generator for ceramic tile patterns, trained only by the features of a fixed network
(which expects normalised images, like everything that was trained on ImageNet)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def normalise(images, mean=MEAN, std=STD):
    mean = torch.tensor(mean).view(1, 3, 1, 1)
    std = torch.tensor(std).view(1, 3, 1, 1)
    return (images - mean) / std


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


class Generator(nn.Module):
    def __init__(self, z=8, width=16):
        super().__init__()
        self.fc = nn.Linear(z, width * 4 * 4)
        self.width = width
        self.net = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(width, width, 3, padding=1, padding_mode="circular"), nn.ReLU(),
            nn.Upsample(scale_factor=2), nn.Conv2d(width, 3, 3, padding=1, padding_mode="circular"), nn.Sigmoid())

    def forward(self, z):
        return self.net(self.fc(z).view(-1, self.width, 4, 4))


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 12, 3, padding=1), nn.Conv2d(12, 16, 3, stride=2, padding=1)
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        a = F.relu(self.conv1(x))
        return a, F.relu(self.conv2(a))


def tiles(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    checks = ((yy // 4 + xx // 4) % 2).float()
    colours = torch.rand(n, 3, 1, 1)
    return checks * colours + (1 - checks) * (1 - colours)


torch.manual_seed(9)
generator, vgg = Generator(), Features()
optimizer = torch.optim.Adam(generator.parameters(), lr=3e-3)

for step in range(12):
    real = normalise(tiles(8))
    fake = normalise(generator(torch.randn(8, 8)))
    with torch.no_grad():
        wanted = [gram(f).mean(0) for f in vgg(real)]
    loss = sum(F.mse_loss(gram(f).mean(0), w) for f, w in zip(vgg(fake), wanted))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(step, round(loss.item(), 5))
