"""Textures by example: an image parameter is fitted to the Gram matrices of a target."""
import functools

import torch
import torch.nn.functional as F
from torch import nn


def gram(features):
    b, c, h, w = features.shape
    flat = features.reshape(b, c, h * w)
    return flat @ flat.transpose(1, 2) / (c * h * w)


class Extractor(nn.Module):
    """Frozen random convolutions; forward hooks collect what the layers put out."""

    def __init__(self, widths=(3, 8, 12)):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, widths[1:])
        )
        self.taps = {}
        for i, conv in enumerate(self.convs):
            conv.register_forward_hook(functools.partial(self._collect, f"conv{i}"))
        self.requires_grad_(False)

    def _collect(self, name, module, inputs, output):
        self.taps[name] = output

    def forward(self, image):
        x = image
        for conv in self.convs:
            x = F.avg_pool2d(F.softplus(conv(x)), 2)
        return {name: gram(t) for name, t in self.taps.items()}


def total_variation(image):
    return (image[..., 1:, :] - image[..., :-1, :]).abs().mean() + \
           (image[..., 1:] - image[..., :-1]).abs().mean()


def synthesize(example, steps=10, weight=0.05):
    extractor = Extractor()
    wanted = extractor(example)
    image = torch.rand_like(example).requires_grad_(True)
    optimizer = torch.optim.Adam([image], lr=0.05)

    with torch.no_grad():
        grams = extractor(image)

    def style():
        return sum(F.mse_loss(grams[k], wanted[k]) for k in wanted)

    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = 100 * style() + weight * total_variation(image)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return image.detach().clamp(0, 1), losses


if __name__ == "__main__":
    torch.manual_seed(40)
    stripes = torch.sin(torch.arange(24.0) * 1.3).mul(0.5).add(0.5).expand(1, 3, 24, 24).clone()
    result, losses = synthesize(stripes)
    print("loss %.5f -> %.5f, mean %.3f" % (losses[0], losses[-1], result.mean()))
