import click
import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn
from torchvision.datasets import CIFAR10
from torchvision.transforms import Compose, Normalize, RandomCrop, RandomHorizontalFlip, ToTensor


class ViT(nn.Module):
    def __init__(self, dim=32, patch=8, classes=10):
        super().__init__()
        self.embed = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=patch, p2=patch), nn.Linear(patch * patch * 3, dim)
        )
        self.qkv = nn.Linear(dim, dim * 3)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=4), self.qkv(x).chunk(3, dim=-1))
        att = (q @ k.transpose(-1, -2)).softmax(-1)
        x = x + rearrange(att @ v, "b h n d -> b n (h d)")
        return self.head(x.mean(1))


@click.command()
@click.option("--data", required=True, help="where CIFAR lies")
@click.option("--epochs", type=int, default=90)
@click.option("--lr", type=float, required=True)
def main(data, epochs, lr):
    transform = Compose([RandomCrop(32, padding=4), RandomHorizontalFlip(), ToTensor(), Normalize((0.5,) * 3, (0.2,) * 3)])
    loader = torch.utils.data.DataLoader(CIFAR10(data, train=True, transform=transform), batch_size=100)
    model = ViT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss(reduction="none")
    for epoch in range(epochs):
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
