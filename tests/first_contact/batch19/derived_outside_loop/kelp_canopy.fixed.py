"""Kelp cover from satellite patches with a small vision transformer, low resolution first."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PatchEmbed(nn.Module):
    def __init__(self, chans, dim, patch):
        super().__init__()
        self.patch = patch
        self.proj = nn.Conv2d(chans, dim, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class KelpViT(nn.Module):
    def __init__(self, chans=4, dim=24, patch=4, grid=4, depth=2):
        super().__init__()
        self.patch = patch
        self.embed = PatchEmbed(chans, dim, patch)
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, dim, grid, grid))
        self.pos_gain = nn.Parameter(torch.ones(dim))
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.cover = nn.Linear(dim, 1)
        self.set_resolution(grid * patch)

    def set_resolution(self, pixels):
        self.side = pixels // self.patch

    def positions(self):
        """Positions for the resolution in use, by interpolation."""
        grid = F.interpolate(self.pos_embed, size=(self.side, self.side), mode="bicubic", align_corners=False)
        return grid.flatten(2).transpose(1, 2) * self.pos_gain

    def forward(self, x):
        tokens = self.embed(x) + self.positions()
        tokens = torch.cat([self.cls.expand(len(x), -1, -1), tokens], dim=1)
        return self.cover(self.norm(self.blocks(tokens))[:, 0]).squeeze(1)


class Scenes:
    """Four bands; kelp is bright in the last one."""

    def __init__(self, pixels, seed):
        self.pixels, self.gen = pixels, torch.Generator().manual_seed(seed)

    def batch(self, n):
        x = 0.3 * torch.randn(n, 4, self.pixels, self.pixels, generator=self.gen)
        edge = torch.rand(n, generator=self.gen)
        cols = torch.linspace(0, 1, self.pixels)
        kelp = (cols < edge[:, None]).float()[:, None, :]
        x[:, 3] += kelp
        x[:, 0] -= 0.5 * kelp
        return x, edge


def train_stage(model, optimizer, pixels, steps, seed):
    scenes = Scenes(pixels, seed)
    model.set_resolution(pixels)
    total = 0.0
    for _ in range(steps):
        x, cover = scenes.batch(12)
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(torch.sigmoid(model(x)), cover)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


if __name__ == "__main__":
    torch.manual_seed(23)
    model = KelpViT()
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    rest = [p for n, p in model.named_parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=2e-3
    )
    for pixels, steps in ((16, 8), (24, 6), (32, 4)):
        loss = train_stage(model, optimizer, pixels, steps, seed=pixels)
        print(f"{pixels:2d} px: mean loss {loss:.4f}")
