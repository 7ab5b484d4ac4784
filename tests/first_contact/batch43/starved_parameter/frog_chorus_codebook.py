# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = codebook, self.codebook, quantized, codebook.weight, self.codebook.weight
"""Discrete units from frog choruses. Reconstruction stalls early, and when I plot the code vectors after the
training they look exactly like their initialisation."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, commitment_cost):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.commitment_cost = commitment_cost
        self.codebook = nn.Embedding(num_embeddings, embedding_dim)
        self.codebook.weight.data.uniform_(-0.5, 0.5)

    def forward(self, z):
        # (batch, dim, time) -> (batch * time, dim)
        z = z.permute(0, 2, 1).contiguous()
        flat = z.view(-1, self.embedding_dim)
        distances = (flat.pow(2).sum(1, keepdim=True)
                     + self.codebook.weight.pow(2).sum(1)
                     - 2 * flat @ self.codebook.weight.t())
        indices = distances.argmin(1)
        quantized = self.codebook(indices).view_as(z)

        # straight-through
        quantized = z + (quantized - z).detach()  # expect: place

        q_latent_loss = F.mse_loss(quantized, z.detach())  # expect: place
        e_latent_loss = F.mse_loss(quantized.detach(), z)
        loss = q_latent_loss + self.commitment_cost * e_latent_loss

        avg_probs = torch.bincount(indices, minlength=self.num_embeddings).float() / len(indices)
        perplexity = torch.exp(-(avg_probs * (avg_probs + 1e-10).log()).sum())
        return loss, quantized.permute(0, 2, 1).contiguous(), perplexity


class ChorusVQVAE(nn.Module):
    def __init__(self, n_mels=10, hidden=24, num_embeddings=16, embedding_dim=6, commitment_cost=0.25):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv1d(n_mels, hidden, 4, 2, 1), nn.ReLU(), nn.Conv1d(hidden, embedding_dim, 3, 1, 1))
        self.vq = VectorQuantizer(num_embeddings, embedding_dim, commitment_cost)
        self.dec = nn.Sequential(nn.Conv1d(embedding_dim, hidden, 3, 1, 1), nn.ReLU(), nn.ConvTranspose1d(hidden, n_mels, 4, 2, 1))

    def forward(self, x):
        loss, quantized, perplexity = self.vq(self.enc(x))
        return loss, self.dec(quantized), perplexity


def choruses(n, n_mels=10, frames=24):
    """every species croaks in a band of its own, on and off"""
    x = 0.05 * torch.randn(n, n_mels, frames)
    for i in range(n):
        for band in torch.randperm(n_mels)[:3].tolist():
            period, shift = torch.randint(3, 8, (1,)).item(), torch.randint(8, (1,)).item()
            x[i, band, (torch.arange(frames) + shift) % period < 2] += 1.0
    return x


def train(num_updates=60):
    data = choruses(64)
    variance = data.var()
    model = ChorusVQVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    res_recon_error, res_perplexity = [], []
    for i in range(num_updates):
        batch = data[torch.randint(len(data), (16,))]
        optimizer.zero_grad()
        vq_loss, recon, perplexity = model(batch)
        recon_error = F.mse_loss(recon, batch) / variance
        loss = recon_error + vq_loss
        loss.backward()
        optimizer.step()
        res_recon_error.append(recon_error.item())
        res_perplexity.append(perplexity.item())
        if (i + 1) % 10 == 0:
            print("%d iterations  recon_error: %.3f  perplexity: %.3f" % (
                i + 1, sum(res_recon_error[-10:]) / 10, sum(res_perplexity[-10:]) / 10))


if __name__ == "__main__":
    torch.manual_seed(42)
    train()
