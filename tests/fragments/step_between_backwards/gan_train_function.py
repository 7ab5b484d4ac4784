# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

discriminator = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
generator = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
optimizer_D = optim.SGD(discriminator.parameters(), 0.1)
optimizer_G = optim.SGD(generator.parameters(), 0.1)
adversarial_loss = nn.BCELoss()
latent_dim = 8
dataloader = [(torch.randn(4, 8), 0) for _ in range(3)]


# paste: begin
def train(epoch):
    for i, (imgs, _) in enumerate(dataloader):
        valid = torch.ones(imgs.size(0), 1)
        fake = torch.zeros(imgs.size(0), 1)
        z = torch.randn(imgs.size(0), latent_dim)
        gen_imgs = generator(z)
        pred_fake = discriminator(gen_imgs)  # expect: place
        d_loss = adversarial_loss(discriminator(imgs), valid) + adversarial_loss(pred_fake, fake)
        g_loss = adversarial_loss(pred_fake, valid)
        optimizer_D.zero_grad()
        d_loss.backward(retain_graph=True)
        optimizer_D.step()  # expect: place
        optimizer_G.zero_grad()
        g_loss.backward()  # expect: place
        optimizer_G.step()


# paste: end
train(0)
