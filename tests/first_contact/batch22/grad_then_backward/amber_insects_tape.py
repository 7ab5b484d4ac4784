# expect: pattern = grad-then-backward
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = z, z_mean, z_log_var, reconstruction
# Converted from my TF2 / Keras code: convolutional VAE on scans of insects in amber, plus a small
# classifier of the order on the latent. tape / train_step / metrics kept as they were.
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

np.random.seed(5)
torch.manual_seed(5)
latent_dim = 3


class GradientTape:
    """with tf.GradientTape(persistent=True) as tape: ..."""

    def __init__(self, persistent=False):
        self.persistent = persistent

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def gradient(self, target, sources):
        return torch.autograd.grad(target, sources)  # expect: place


class Optimizer:
    """tf.keras.optimizers.Adam: apply_gradients(zip(grads, vars))"""

    def __init__(self, variables, learning_rate):
        self.opt = torch.optim.Adam(variables, lr=learning_rate)

    def apply_gradients(self, grads_and_vars):
        self.opt.zero_grad()
        for g, v in grads_and_vars:
            v.grad = g
        self.opt.step()


class Mean:
    def __init__(self, name):
        self.name, self.reset_states = name, self.reset
        self.reset()

    def reset(self):
        self.values = []

    def update_state(self, value):
        self.values.append(float(value))

    def result(self):
        return np.mean(self.values)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.dense = nn.Linear(8 * 36, 16)
        self.z_mean = nn.Linear(16, latent_dim)
        self.z_log_var = nn.Linear(16, latent_dim)

    def forward(self, x):
        x = F.relu(self.conv(x)).flatten(1)
        x = F.relu(self.dense(x))
        z_mean, z_log_var = self.z_mean(x), self.z_log_var(x)
        return z_mean, z_log_var, z_mean + torch.exp(0.5 * z_log_var) * torch.randn_like(z_mean)


class AmberVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(latent_dim, 32), nn.ReLU(), nn.Linear(32, 144))
        self.classifier = nn.Sequential(nn.Linear(latent_dim, 16), nn.ReLU(), nn.Linear(16, 4))
        self.total_loss_tracker = Mean("total_loss")
        self.clf_loss_tracker = Mean("clf_loss")

    def compile(self):
        self.vae_variables = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.clf_variables = list(self.classifier.parameters())
        self.vae_optimizer = Optimizer(self.vae_variables, 2e-3)
        self.clf_optimizer = Optimizer(self.clf_variables, 1e-2)

    def train_step(self, data):
        x, y = data
        with GradientTape(persistent=True) as tape:
            z_mean, z_log_var, z = self.encoder(x)
            reconstruction = self.decoder(z)
            recon = ((reconstruction - x.flatten(1)) ** 2).sum(1).mean()
            kl = -0.5 * (1 + z_log_var - z_mean ** 2 - z_log_var.exp()).sum(1).mean()
            clf_loss = F.cross_entropy(self.classifier(z), y)
            total_loss = recon + 0.1 * kl + 5.0 * clf_loss
        vae_grads = tape.gradient(total_loss, self.vae_variables)  # expect: place
        clf_grads = tape.gradient(clf_loss, self.clf_variables)  # expect: place
        self.vae_optimizer.apply_gradients(zip(vae_grads, self.vae_variables))
        self.clf_optimizer.apply_gradients(zip(clf_grads, self.clf_variables))
        del tape
        self.total_loss_tracker.update_state(total_loss)
        self.clf_loss_tracker.update_state(clf_loss)
        return {m.name: m.result() for m in (self.total_loss_tracker, self.clf_loss_tracker)}

    def fit(self, x, y, epochs, batch_size):
        for epoch in range(epochs):
            self.total_loss_tracker.reset_states()
            self.clf_loss_tracker.reset_states()
            order = np.random.permutation(len(x))
            for i in range(0, len(x), batch_size):
                idx = order[i:i + batch_size]
                logs = self.train_step((x[idx], y[idx]))
            print(f"Epoch {epoch + 1}/{epochs} - " + " - ".join(f"{k}: {v:.4f}" for k, v in logs.items()))


shapes = np.random.rand(4, 1, 12, 12).astype("float32")
y_train = np.random.randint(0, 4, 96)
x_train = (shapes[y_train] + 0.2 * np.random.randn(96, 1, 12, 12)).astype("float32")
vae = AmberVAE()
vae.compile()
vae.fit(torch.from_numpy(x_train), torch.from_numpy(y_train), epochs=3, batch_size=16)
