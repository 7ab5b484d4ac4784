import torch
from torch import nn


class ProfileAutoencoder(nn.Module):
    """Temperature profiles on 32 pressure levels to four numbers and back."""

    def __init__(self, levels: int = 32, latent_dim: int = 4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(levels, 24),
            nn.ELU(),
            nn.Linear(24, latent_dim),
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent_dim, 24),
            nn.ELU(),
            nn.Linear(24, levels),
        )

    def encode(self, x):
        return self.encoder(x)

    def forward(self, x):
        return self.decoder(self.encode(x))


def fit_autoencoder(model, profiles, n_epochs=10, lr=3e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(n_epochs):
        loss = nn.functional.mse_loss(model(profiles), profiles)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
