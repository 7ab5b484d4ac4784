import torch
from torch import nn

MEAN = (0.48, 0.45, 0.40)
STD = (0.22, 0.22, 0.22)

torch.manual_seed(2)
decoder = nn.Sequential(nn.Linear(6, 3 * 8 * 8), nn.Tanh())
opt = torch.optim.Adam(decoder.parameters(), lr=1e-3)
photos = torch.rand(4, 3, 8, 8)
codes = torch.randn(4, 6)


def denormalise(image):
    """Back to pixel values, channel by channel."""
    image = image.detach().clone()
    for channel, m, s in zip(image, MEAN, STD):
        channel.mul_(s).add_(m)
    return image


for epoch in range(3):
    for photo, code in zip(photos, codes):
        image = decoder(code).view(3, 8, 8)
        loss = (denormalise(image) - photo).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "l1", loss.item())
