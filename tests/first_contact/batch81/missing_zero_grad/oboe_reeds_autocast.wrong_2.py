"""Sound spectra of oboe reeds: a variational autoencoder with an optimizer for each half, in bfloat16."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, n_bins, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_bins, 32), nn.SiLU())
        self.mean = nn.Linear(32, latent)
        self.log_var = nn.Linear(32, latent)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).clamp(-6, 3)


class Decoder(nn.Sequential):
    def __init__(self, n_bins, latent):
        super().__init__(nn.Linear(latent, 32), nn.SiLU(), nn.Linear(32, n_bins))


def spectra(n, n_bins, generator):
    pitch = torch.rand(n, 1, generator=generator) * 4 + 2
    damping = torch.rand(n, 1, generator=generator) + 0.5
    bins = torch.arange(n_bins) / n_bins
    wave = torch.cos(6.283 * pitch * bins) * torch.exp(-damping * 3 * bins)
    return wave + 0.02 * torch.randn(n, n_bins, generator=generator)


def elbo(encoder, decoder, x, beta, generator):
    mean, log_var = (t.float() for t in encoder(x))
    z = mean + torch.randn(mean.shape, generator=generator) * (0.5 * log_var).exp()
    recon = F.mse_loss(decoder(z).float(), x, reduction="none").sum(1).mean()
    kl = 0.5 * (mean.pow(2) + log_var.exp() - 1 - log_var).sum(1).mean()
    return recon, beta * kl


def make_optimizers(encoder, decoder, lr):
    opt_encoder = torch.optim.SGD(encoder.parameters(), lr=lr)
    opt_decoder = torch.optim.SGD(decoder.parameters(), lr=lr)
    return opt_encoder, opt_decoder


def run_epoch(data, encoder, decoder, optimizers, args, generator):
    opt_encoder, opt_decoder = optimizers
    opt_encoder.zero_grad()
    total = 0.0
    for x in data.split(args.batch):
        opt_decoder.zero_grad()
        opt_decoder.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            recon, kl = elbo(encoder, decoder, x, args.beta, generator)
        loss = recon + kl
        loss.backward()
        opt_encoder.step()
        opt_decoder.step()
        total += loss.item() * len(x)
    return total / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=3e-2)
    args = parser.parse_args()
    torch.manual_seed(12)
    generator = torch.Generator().manual_seed(12)
    data = spectra(80, 24, generator)
    encoder, decoder = Encoder(24, 3), Decoder(24, 3)
    optimizers = make_optimizers(encoder, decoder, args.lr)
    for epoch in range(args.epochs):
        loss = run_epoch(data, encoder, decoder, optimizers, args, generator)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
