import torch
from torch import nn


class MaskedAutoencoder(nn.Module):
    """Three-component traces cut into patches; 60 % are hidden and have to be restored."""

    def __init__(self, length=96, patch=8, dim=32, depth=2, mask_ratio=0.6):
        super().__init__()
        self.patch = patch
        self.n = length // patch
        self.mask_ratio = mask_ratio
        self.embed = nn.Linear(3 * patch, dim)
        self.pos = nn.Parameter(torch.zeros(1, self.n, dim))
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dim))
        nn.init.normal_(self.pos, std=0.02)
        nn.init.normal_(self.mask_token, std=0.02)
        layer = dict(d_model=dim, nhead=4, dim_feedforward=2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.ModuleList([nn.TransformerEncoderLayer(**layer) for _ in range(depth)])
        self.decoder = nn.TransformerEncoderLayer(**layer)
        self.pred = nn.Linear(dim, 3 * patch)

    def patchify(self, x):
        b = x.shape[0]
        return x.view(b, 3, self.n, self.patch).transpose(1, 2).reshape(b, self.n, 3 * self.patch)

    def forward(self, x):
        target = self.patchify(x)
        b, keep = len(x), int(self.n * (1 - self.mask_ratio))
        shuffle = torch.rand(b, self.n).argsort(dim=1)
        restore = shuffle.argsort(dim=1)
        h = self.embed(target) + self.pos
        dim = h.shape[-1]
        h = torch.gather(h, 1, shuffle[:, :keep, None].expand(-1, -1, dim))
        for block in self.encoder:
            h = block(h)
        h = torch.cat([h, self.mask_token.expand(b, self.n - keep, -1)], 1)
        h = torch.gather(h, 1, restore[:, :, None].expand(-1, -1, dim)) + self.pos
        pred = self.pred(self.decoder(h))
        hidden = (restore >= keep).float()
        loss = ((pred - target) ** 2).mean(-1)
        return (loss * hidden).sum() / hidden.sum()
