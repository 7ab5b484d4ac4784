"""Independent factors of slates on old roofs: width, height, chipped corner, tone."""
import torch

from factor_vae import FactorVAE
from trainer import Trainer


def slate(size=8):
    image = torch.zeros(size, size)
    width, height = torch.randint(2, size, (2,)).tolist()
    image[:height, :width] = 0.5 + 0.5 * torch.rand(())
    if torch.rand(()) < 0.3:
        image[height - 1, width - 1] = 0.0
    return image.flatten()


class Slates:
    def __init__(self, count, batch):
        self.images = torch.stack([slate() for _ in range(count)])
        self.batch = batch

    def __iter__(self):
        for index in torch.randperm(len(self.images)).split(self.batch):
            yield self.images[index]


def print_row(epoch, module, means):
    print(epoch, " ".join(f"{name} {value:.3f}" for name, value in means.items()))


@torch.no_grad()
def print_spread(epoch, module, means):
    z, mean, _ = module.encode(torch.stack([slate() for _ in range(32)]))
    print("  spread of the factors", [round(s, 2) for s in mean.std(0).tolist()])


if __name__ == "__main__":
    torch.manual_seed(23)
    slates = Slates(count=96, batch=32)
    Trainer(epochs=4, callbacks=[print_row, print_spread]).fit(FactorVAE(pixels=64), slates)
