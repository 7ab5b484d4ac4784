# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.scale, scale, criterion.scale
# Image-text contrastive training with a learned temperature.
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class ContrastiveLoss(nn.Module):
    def __init__(self, init=14.0):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(init).log())
        self.scale = self.log_scale.exp().clamp(max=100)  # expect: place

    def forward(self, image, text):
        logits = self.scale * image @ text.T  # expect: place
        labels = torch.arange(len(image))
        return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))


class Tower(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def parse():
    parser = argparse.ArgumentParser(description="tiny CLIP")
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--dim", default=8, type=int)
    return parser.parse_known_args()[0]


def main(args):
    torch.manual_seed(0)
    image, text = Tower(12, args.dim), Tower(10, args.dim)
    criterion = ContrastiveLoss()
    groups = [
        {"params": [*image.parameters(), *text.parameters()], "weight_decay": 0.1},
        {"params": criterion.parameters(), "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3)
    shared = torch.randn(32, 6)
    images, texts = shared @ torch.randn(6, 12), shared @ torch.randn(6, 10)
    for epoch in range(args.epochs):
        for index in torch.randperm(32).split(8):
            loss = criterion(image(images[index]), text(texts[index]))
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
        print(epoch, loss.item(), criterion.log_scale.exp().item())


if __name__ == "__main__":
    main(parse())
