"""Optimise an image so that its features match a target's."""
import torch
from torch import nn

torch.manual_seed(16)
extractor = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 8, 3, padding=1), nn.ReLU()
)
for p in extractor.parameters():
    p.requires_grad_(False)


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


style_image = torch.rand(1, 3, 8, 8)
image = torch.rand(1, 3, 8, 8).requires_grad_()
optimizer = torch.optim.Adam([image], lr=0.02)
target_gram = gram(extractor(style_image))

for step in range(6):
    generated = extractor(image)
    style_loss = (gram(generated) - target_gram).pow(2).sum()
    optimizer.zero_grad()
    style_loss.backward()
    optimizer.step()
