"""Gaps in blood panels, filled by GAIN. Ported from a LightningModule to a cluster without Lightning."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ANALYTES = ["na", "k", "crea", "urea", "crp", "hb", "plt", "alt"]


class PanelGAIN(nn.Module):
    def __init__(self, n, hidden=24, alpha=10.0, hint_rate=0.8):
        super().__init__()
        self.gen = nn.Sequential(nn.Linear(2 * n, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, n))
        self.disc = nn.Sequential(nn.Linear(2 * n, hidden), nn.ReLU(), nn.Linear(hidden, n))
        self.alpha = alpha
        self.hint_rate = hint_rate

    def configure_optimizers(self):
        return [torch.optim.Adam(self.disc.parameters(), lr=2e-3),
                torch.optim.Adam(self.gen.parameters(), lr=2e-3)]

    def impute(self, x, mask):
        noise = 0.05 * torch.randn_like(x)
        raw = self.gen(torch.cat([mask * x + (1 - mask) * noise, mask], 1))
        return mask * x + (1 - mask) * raw, raw

    def on_train_batch_start(self, batch):
        x, mask = batch
        known = (torch.rand_like(mask) < self.hint_rate).float()
        self.hint = known * mask + 0.5 * (1 - known)
        self.filled, self.raw = self.impute(x, mask)

    def training_step(self, batch, optimizer_idx):
        x, mask = batch
        if optimizer_idx == 0:
            guess = self.disc(torch.cat([self.filled, self.hint], 1))
            return {"d_loss": F.binary_cross_entropy_with_logits(guess, mask)}
        self.filled, self.raw = self.impute(x, mask)
        guess = self.disc(torch.cat([self.filled, self.hint], 1))
        fool = -((1 - mask) * F.logsigmoid(guess)).sum() / (1 - mask).sum().clamp(min=1)
        keep = (mask * (x - self.raw) ** 2).sum() / mask.sum()
        return {"g_loss": fool + self.alpha * keep}

    def validation_step(self, x, mask):
        filled, _ = self.impute(x, mask)
        return (((1 - mask) * (filled - x) ** 2).sum() / (1 - mask).sum()).sqrt()


class Trainer:
    """As much of Lightning's as we used."""

    def __init__(self, max_epochs, log_every=4):
        self.max_epochs = max_epochs
        self.log_every = log_every
        self.logged = {}

    def fit(self, module, train, val):
        optimizers = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            for batch in train:
                module.on_train_batch_start(batch)
                for idx, optimizer in enumerate(optimizers):
                    (name, loss), = module.training_step(batch, idx).items()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    self.logged.setdefault(name, []).append(loss.item())
            if (epoch + 1) % self.log_every == 0:
                self.validate(module, val, epoch + 1)

    @torch.no_grad()
    def validate(self, module, val, epoch):
        module.eval()
        rmse = sum(module.validation_step(*batch).item() for batch in val) / len(val)
        recent = {k: round(sum(v[-8:]) / len(v[-8:]), 3) for k, v in self.logged.items()}
        print(f"epoch {epoch}: rmse of the gaps {rmse:.3f}", recent)


def panels(n, batch):
    mix = torch.randn(3, len(ANALYTES)) * 0.7
    x = torch.randn(n, 3) @ mix + 0.2 * torch.randn(n, len(ANALYTES))
    mask = (torch.rand_like(x) > 0.25).float()
    return list(zip(x.split(batch), mask.split(batch)))


if __name__ == "__main__":
    torch.manual_seed(72)
    batches = panels(384, 48)
    Trainer(max_epochs=8).fit(PanelGAIN(len(ANALYTES)), batches[:6], batches[6:])
