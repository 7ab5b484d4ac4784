# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = change, tile
"""Deforestation alerts: siamese encoder over two Sentinel-2 dates, clouds and swath edges marked as no data."""
import torch
from torch import nn
import torch.nn.functional as F

BANDS = ("B02", "B03", "B04", "B08", "B11")


def burn_nodata(tile, valid, value=0.0):
    """Overwrite pixels without an observation. tile is (N, C, H, W), valid is (N, H, W)."""
    hole = (~valid).unsqueeze(1).expand_as(tile)
    tile[hole] = value  # expect: place
    return tile


class ScenePairs:
    """Synthetic pairs; a clearing lowers NIR and raises SWIR inside a rectangle."""

    def __init__(self, n_batches, seed, size=24, batch=4):
        self.n_batches, self.size, self.batch = n_batches, size, batch
        self.gen = torch.Generator().manual_seed(seed)

    def _cloud(self):
        noise = torch.rand(self.batch, 1, 6, 6, generator=self.gen)
        smooth = F.interpolate(noise, size=self.size, mode="bilinear", align_corners=False)
        return smooth.squeeze(1) > 0.7

    def __iter__(self):
        for _ in range(self.n_batches):
            before = torch.rand(self.batch, len(BANDS), self.size, self.size, generator=self.gen)
            after = before + 0.05 * torch.randn(before.shape, generator=self.gen)
            label = torch.zeros(self.batch, self.size, self.size)
            for k in range(self.batch):
                r, c = torch.randint(2, self.size - 10, (2,), generator=self.gen).tolist()
                label[k, r:r + 8, c:c + 8] = 1.0
            after[:, 3] -= 0.5 * label
            after[:, 4] += 0.4 * label
            valid = ~(self._cloud() | self._cloud())
            yield burn_nodata(before, valid), burn_nodata(after, valid), label, valid


class SiameseChange(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(len(BANDS), width, 3, padding=1), nn.GroupNorm(3, width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(3, width), nn.ReLU())
        self.compare = nn.Conv2d(width, width, 1)
        self.context = nn.Conv2d(width, width, 5, padding=2)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, before, after, valid):
        diff = self.encoder(after) - self.encoder(before)
        change = torch.tanh(self.compare(diff))  # expect: place
        # keep clouds from bleeding into the neighbourhood
        change = burn_nodata(change, valid)  # expect: place
        change = F.relu(self.context(change)) + change
        return self.head(change).squeeze(1)


class AlertTask:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def training_step(self, batch):
        before, after, label, valid = batch
        logits = self.model(before, after, valid)
        per_pixel = F.binary_cross_entropy_with_logits(logits, label, reduction="none",
                                                       pos_weight=torch.tensor(4.0))
        return (per_pixel * valid).sum() / valid.sum()

    def fit(self, scenes, epochs):
        for epoch in range(epochs):
            running = []
            for batch in scenes:
                self.optimizer.zero_grad()
                loss = self.training_step(batch)
                loss.backward()  # expect: place
                self.optimizer.step()
                running.append(loss.item())
            print(f"epoch {epoch} loss {sum(running) / len(running):.4f}")


if __name__ == "__main__":
    torch.manual_seed(42)
    AlertTask(SiameseChange(), lr=3e-3).fit(ScenePairs(6, seed=8), epochs=3)
