import os

import matplotlib.pyplot as plt
import numpy as np
import torch
import yaml
from sklearn.manifold import TSNE
from torchvision import datasets, transforms

from models import VAE

with open("configs/vae.yaml") as f:
    config = yaml.safe_load(f)

loader = torch.utils.data.DataLoader(
    datasets.FashionMNIST("data", train=True, download=True, transform=transforms.ToTensor()),
    batch_size=config["batch_size"],
)
model = VAE(config["hidden_dim"], config["latent_dim"])
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
history, codes = [], []
for epoch in range(config["epochs"]):
    for x, _ in loader:
        recon, mu, logvar = model(x)
        loss = ((recon - x.flatten(1)) ** 2).sum() - 0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        codes.append(mu.numpy())
    plt.plot(history)
    plt.savefig(os.path.join(config["output_dir"], "loss.png"))
