# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.images, pool.images, images
# A pool of earlier fakes for the discriminator.
import random

import torch
from torch import nn


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, batch):
        out = []
        for image in batch:
            image = image.unsqueeze(0)
            if len(self.images) < self.size:
                self.images.append(image)  # expect: place
                out.append(image)
            elif random.random() < 0.5:
                i = random.randrange(self.size)
                out.append(self.images[i])  # expect: place
                self.images[i] = image  # expect: place
            else:
                out.append(image)
        return torch.cat(out)


def net(i, o):
    return nn.Sequential(nn.Linear(i, 20), nn.LeakyReLU(0.2), nn.Linear(20, o))


def adversarial(score, real):
    return nn.functional.mse_loss(score, torch.full_like(score, float(real)))


def main():
    random.seed(1)
    torch.manual_seed(1)
    G, D = net(3, 6), net(6, 1)
    opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.99))
    pool = ImagePool(6)
    for i in range(5):
        noise, real = torch.randn(4, 3), torch.rand(4, 6)
        loss_g = adversarial(D(G(noise)), True)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()

        fake = pool.query(G(noise))  # expect: place
        loss_d = 0.5 * (adversarial(D(real), True) + adversarial(D(fake), False))
        opt_d.zero_grad()
        loss_d.backward()  # expect: place
        opt_d.step()
        print(i, loss_g.item(), loss_d.item())


main()
