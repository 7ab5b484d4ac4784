# expect: pattern = starved-parameter
# expect: carrier = quantised, self.codebook, codebook
# VQ autoencoder for drum loops (onset grids), moved over from Keras.
# tf.stop_gradient -> detach
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)

STEPS, VOICES = 16, 4
LATENT, CODES = 8, 12
BETA = 0.25


class VectorQuantizer(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, beta=BETA):
        super().__init__()
        self.beta = beta
        self.codebook = nn.Embedding(num_embeddings, embedding_dim)
        self.codebook.weight.data.uniform_(-0.5, 0.5)
        self.losses = []

    def get_code_indices(self, flat):
        similarity = flat @ self.codebook.weight.t()
        distances = flat.pow(2).sum(1, keepdim=True) + self.codebook.weight.pow(2).sum(1) - 2 * similarity
        return distances.argmin(1)

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        idx = self.get_code_indices(flat)
        quantised = self.codebook(idx).view_as(x)
        # straight through: the decoder's gradient goes to the encoder
        quantised = x + (quantised - x).detach()  # expect: place
        commitment_loss = torch.mean((quantised.detach() - x) ** 2)
        codebook_loss = torch.mean((quantised - x.detach()) ** 2)  # expect: place
        self.losses = [self.beta * commitment_loss + codebook_loss]
        return quantised


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(VOICES, 24, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv1d(24, LATENT, 4, stride=2, padding=1),
        )
        self.vq_layer = VectorQuantizer(CODES, LATENT)
        self.decoder = nn.Sequential(
            nn.ConvTranspose1d(LATENT, 24, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose1d(24, VOICES, 4, stride=2, padding=1),
        )

    def call(self, x):
        z = self.encoder(x).transpose(1, 2)
        q = self.vq_layer(z)
        return self.decoder(q.transpose(1, 2))

    forward = call


def drum_loops(n):
    kick = torch.zeros(STEPS); kick[::4] = 1
    snare = torch.zeros(STEPS); snare[4::8] = 1
    hat = torch.zeros(STEPS); hat[::2] = 1
    base = torch.stack([kick, snare, hat, torch.zeros(STEPS)])
    loops = torch.stack([base.roll(int(s), 1) for s in torch.randint(0, 4, (n,))])
    return (loops + (torch.rand(n, VOICES, STEPS) < 0.06).float()).clamp(max=1)


x_train = drum_loops(256)
vqvae = VQVAE()
optimizer = torch.optim.Adam(vqvae.parameters(), lr=2e-3)
batch_size, epochs = 32, 4

for epoch in range(epochs):
    rec = vq = 0.0
    for i in range(0, len(x_train), batch_size):
        batch = x_train[i:i + batch_size]
        reconstruction = vqvae(batch)
        reconstruction_loss = F.binary_cross_entropy_with_logits(reconstruction, batch)
        total_loss = reconstruction_loss + sum(vqvae.vq_layer.losses)
        optimizer.zero_grad()
        total_loss.backward()
        optimizer.step()
        rec += reconstruction_loss.item()
        vq += sum(l.item() for l in vqvae.vq_layer.losses)
    n = len(x_train) / batch_size
    print(f"Epoch {epoch + 1}/{epochs} - reconstruction_loss: {rec / n:.4f} - vqvae_loss: {vq / n:.4f}")

with torch.no_grad():
    z = vqvae.encoder(x_train).transpose(1, 2).reshape(-1, LATENT)
    used = vqvae.vq_layer.get_code_indices(z).unique().numel()
print("codes in use:", used, "of", CODES)
